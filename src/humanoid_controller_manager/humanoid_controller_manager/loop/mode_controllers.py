"""The mode controllers that the loop may choose from, and their fallbacks."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite
from typing import Final, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from humanoid_control_common.errors import ConfigError, ControllerError
from humanoid_control_common.robot.joints import FloatArray, IndexArray
from humanoid_control_common.robot.mit_interface import JointCommand, JointState
from humanoid_control_common.rules.modes import SAFE_MODES, Mode
from humanoid_control_common.rules.reasons import NO_REASON, Reason, ReasonedError
from humanoid_controller_manager.controller import Controller, Progress
from humanoid_controller_manager.hardware.hardware_group import HardwareGroup
from humanoid_controller_manager.hardware.result_checks import shown
from humanoid_controller_manager.loop.snapshot import MemberReport
from humanoid_controller_manager.plugin_texts import plain
from humanoid_controller_manager.reason_codes import CONTROLLER_FAILED

LARGEST_SEGMENT: Final = (1 << 32) - 1  # that a message holds
BETWEEN_MEMBERS: Final = "+"  # in the name of a group; no name of a ROS node contains it


class Tick(NamedTuple):
    """The inputs of a controller in one tick. Times in [s]."""

    state: JointState
    now: float
    period: float
    clock: Callable[[], float]  # the loop's time now: shows whether a controller is late


# What the controller in charge reports after an update: progress, remark, and those of each member
# of a group.
Report: TypeAlias = tuple[Progress | None, str, tuple[MemberReport, ...]]


class LentCommand:
    """Storage of one controller's command, and the view of it that the controller gets.

    A controller that changes the view itself (shape, type, writeable) does not change the storage.
    New storage for each activation keeps a former controller from commands of the next one.
    """

    __slots__ = ("values", "view")

    def __init__(self, joint_count: int) -> None:
        self.values = JointCommand(joint_count)  # of the loop
        self.view = JointCommand(joint_count, self.values.array.view())  # of the controller


class ClaimedJoints:
    """The joints that one controller claims, and its arrays for them.

    Args:
        rows: of its joints among the robot's, shape (k,), in the controller's order.
    """

    __slots__ = ("lent", "measured", "rows", "state")

    def __init__(self, rows: IndexArray) -> None:
        self.rows = rows
        self.state = JointState(len(rows))
        self.measured = self.state.read_only()  # a view for the controller
        self.renew()

    def renew(self) -> None:
        """Give the controller new storage for its command, as it is activated."""
        self.lent = LentCommand(len(self.rows))

    def shared_rows(self, other: Self) -> IndexArray:
        """Return the rows that both claim, sorted."""
        return np.intersect1d(self.rows, other.rows)


@dataclass(frozen=True, slots=True)
class ControllerSlot:
    """A configured mode controller and the names of its fallbacks, in order.

    With `claimed` it has some joints only: it runs as a member of a ControllerGroup.
    """

    name: str
    controller: Controller
    fallbacks: tuple[str, ...] = ()
    claimed: ClaimedJoints | None = None  # None: it claims all joints
    compensates_gravity: bool = False

    @property
    def mode(self) -> Mode:
        """The mode that it implements."""
        return self.controller.mode

    @property
    def needs_stiffness(self) -> bool:
        """True if it starts only once the impedance of its mode is confirmed."""
        return "stiffness" in self.controller.needs

    def compensated_joints(self, count: int) -> NDArray[np.bool_]:
        """Return the joints with gravity compensation, a mask over the robot's `count` joints."""
        mask = np.zeros(count, dtype=np.bool_)
        mask[slice(None) if self.claimed is None else self.claimed.rows] = self.compensates_gravity
        return mask

    def lacking(self, hardware: HardwareGroup) -> str:
        """Return which joints do not offer what it needs; empty if all do."""
        rows = None if self.claimed is None else self.claimed.rows
        lacking = hardware.lacking(self.controller.needs, rows)
        return f"{self.name}: {lacking}" if lacking else ""

    # Of a controller with all joints; in the loop's thread.

    def check_start(self, tick: Tick) -> None:
        """Raise what it raises if it cannot start now."""
        self.controller.check_start(tick.state, tick.now)

    def activate(self, tick: Tick, command: JointCommand) -> None:
        """Activate it from the `command` in force. Raises what it raises."""
        self.controller.on_activate(tick.state, command.copy(), tick.now)

    def update(self, tick: Tick, command: JointCommand) -> None:
        """Write its command of this tick to `command`. Raises what it raises."""
        self.controller.update(tick.state, command, tick.now, tick.period)

    def held_back(self, target: FloatArray, why: str) -> None:
        """Report that its latest command reached only `target`. Raises the controller's errors."""
        self.controller.on_held_back(target, why)

    def report(self) -> Report:
        """Return its checked progress and remark. Raises what it raises; ControllerError."""
        return (*checked_report(self.controller), ())

    def late(self, elapsed: float, timeout: float) -> str:
        """Return that its update took `elapsed`, longer than `timeout` [s]."""
        return took_too_long(self.name, elapsed, timeout)

    def deactivate(self) -> None:
        """Deactivate it. Raises what it raises."""
        self.controller.on_deactivate()


def took_too_long(name: str, elapsed: float, timeout: float) -> str:
    """Return that an update took `elapsed`, longer than `timeout` [s]."""
    return f"{name} took {elapsed * 1e3:.1f} ms (at most {timeout * 1e3:.1f} ms)"


def reason_of_failure(text: str, error: BaseException) -> Reason:
    """Return the reason of a controller that raised `error`, in the words of `text`."""
    cause = getattr(error, "reason", None) if isinstance(error, ReasonedError) else None
    # The class may be a plug-in's, which has set another `reason`.
    known = cause if isinstance(cause, Reason) else NO_REASON
    return Reason.of(CONTROLLER_FAILED, text, known)


def unexplained(error: BaseException | None) -> BaseException | None:
    """Return the error whose traceback the log needs: an error without a reason code of its own."""
    return None if isinstance(error, ReasonedError) else error


def group_name(members: Iterable[str]) -> str:
    """Return the name of the group of controllers `members`."""
    return BETWEEN_MEMBERS.join(members)


def member_names(name: str) -> tuple[str, ...]:
    """Return the controllers that are in charge as `name`: one, or the members of a group."""
    return tuple(name.split(BETWEEN_MEMBERS)) if name else ()


def controllers_of(mode: Mode, slots: Iterable[ControllerSlot]) -> tuple[ControllerSlot, ...]:
    """Return the controllers that are in charge of `mode` by default; empty if there are none.

    This is the first controller of the mode. If it claims only some joints, the following ones
    whose joints are not claimed yet are added.
    """
    chosen: list[ControllerSlot] = []
    for slot in slots:
        if slot.mode is mode and all(are_disjoint(slot, other) for other in chosen):
            chosen.append(slot)
    return tuple(chosen)


def are_disjoint(one: ControllerSlot, other: ControllerSlot) -> bool:
    """Return whether no joint is claimed by both."""
    if one.claimed is None or other.claimed is None:
        return False
    return not one.claimed.shared_rows(other.claimed).size


def checked_slots(
    slots: Mapping[str, ControllerSlot], safe_chain: Sequence[str]
) -> dict[str, ControllerSlot]:
    """Return a copy of `slots`.

    `safe_chain` names the fallbacks of controllers without fallbacks of their own.

    Raises ConfigError for a fallback that does not exist or is not of a safe mode, and for one of
    DAMPING behind one of ZERO_TORQUE.
    """
    _check(slots, "safe_controllers", safe_chain)
    for slot in slots.values():
        _check(slots, f"{slot.name}.fallback_controllers", slot.fallbacks)
    return dict(slots)


def checked_report(controller: Controller) -> tuple[Progress | None, str]:
    """Return progress and remark. Raises what it raises; ControllerError for wrong ones."""
    progress, remark = controller.progress, controller.remark
    if not (progress is None or _is_progress(progress)) or not isinstance(remark, str):
        raise ControllerError(f"progress is {shown(progress)}, remark {shown(remark)}")
    return progress, plain(remark) if remark else ""


def refusal_as_safe(name: str, mode: Mode) -> str:
    """Return why the loop cannot start with, or fall back to, this controller; empty if it can."""
    return "" if mode in SAFE_MODES else f"'{name}' is {mode.name}, expected a safe mode"


def _check(slots: Mapping[str, ControllerSlot], where: str, names: Sequence[str]) -> None:
    for name in names:
        if name not in slots:
            raise ConfigError(f"{where}: unknown controller '{name}'; known: {', '.join(slots)}")
        refusal = refusal_as_safe(name, slots[name].mode)
        if refusal:
            raise ConfigError(f"{where}: {refusal}")
    for limp, after in pairwise(names):
        if (slots[limp].mode, slots[after].mode) == (Mode.ZERO_TORQUE, Mode.DAMPING):
            raise ConfigError(
                f"{where}: '{limp}' (ZERO_TORQUE) before '{after}' (DAMPING): the joints would be "
                "limp after a fall, and never be damped. Put DAMPING first"
            )


def _is_progress(found: Progress) -> bool:
    """Return whether all fields can be published and compared: the class alone is no proof."""
    if not isinstance(found, Progress):
        return False
    segments = found.current_segment, found.total_segments
    return (
        all(isinstance(it, int | np.integer) and 0 <= it <= LARGEST_SEGMENT for it in segments)
        and isinstance(found.fraction, float | int | np.floating)
        and isfinite(found.fraction)
    )
