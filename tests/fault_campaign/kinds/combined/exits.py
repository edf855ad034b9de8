"""Ordered exits of the CAN motors during which their bus fails, on the stepped robot.

The exit must not report a motor as disabled that is enabled. The guard must disable the motors that
frames can reach.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from fault_campaign.disturbing.disturbances import motor, on_bus
from fault_campaign.judging.power_claims import confirmed_at_exit, false_claims
from fault_campaign.judging.violation import ViolationType
from fault_campaign.kinds.can import guarded, unheard, unreachable
from fault_campaign.kinds.kind import (
    Allowed,
    Kind,
    Outcome,
    Recovery,
    RefutedError,
    RequiredRecord,
    Scene,
)
from fault_campaign.programs import GIVE_UP
from fault_campaign.robot import MAIN, Robot
from fault_campaign.robot_joints import TargetJoint
from humanoid_twin.can.control import CanMethods

_LOOK: Final = 0.001  # [s]
_BEFORE, _AFTER = 0.4, 1.0  # [s] limits of the time of a fault before and after the order to end
_ORDERED: Final = (0.0, 0.2)  # [s] after the order to end: when the motors get theirs
HELD: Final = (0.02, 0.5)  # [s] for which an adapter is held up
_UNPLUGS: Final = (-0.1, 0.4)  # [s] after the order to end: before or during the exit
_UNPLUGGED: Final = (0.1, 2.0)  # [s] until the adapter is plugged in again
_NOTICED: Final = 1.2  # [s] until the control process has detected the end of its guard
_GUARD: Final = 4.0  # [s] limit of the time of a guard: it tries for 3 s
# [s] before the order to the motors. docs/can.md: the stack cannot distinguish a break in this time
# from obedience.
_UNTOLD: Final = 0.06
_FALLS: Final = "an arm without torque falls until it hangs"
Event = tuple[float, Callable[[], object]]  # time [s], and the action at it


def simulated(scene: Scene) -> Robot:
    """Return the stepped robot: its kinds need its log, guards, adapters or threads."""
    assert isinstance(scene.robot, Robot)
    return scene.robot


def is_enabled(scene: Scene, joint: str) -> bool:
    """Return True if the motor of a joint on the bus that is struck has torque, by the truth."""
    return joint in enabled(scene)


def enabled(scene: Scene) -> list[str]:
    """Return the joints on the bus that is struck whose motors have torque, by the truth."""
    motors, joints = scene.can.can_drives(), scene.robot.joints
    return [
        it for it in joints.on_bus(scene.bus) if motors[joints.motor(it)]["firmware"]["enabled"]
    ]


class Exit:
    """One ordered exit, and the truth of the motors on the bus that is struck."""

    def __init__(self, scene: Scene) -> None:
        self._scene, self._robot = scene, simulated(scene)
        self._joints = scene.robot.joints.on_bus(scene.bus)
        self.lines: list[str] = []
        self.obeyed_at: float | None = None  # [s] robot time at which the first motor was disabled
        self._due: list[Event] = []  # actions still to come

    def run(self, events: Sequence[Event]) -> None:
        """Order the end, and run the actions of `events`; their times count from the order."""
        robot, log = self._robot, self._robot.stepped.log
        log.append(self._note)
        try:
            ordered = robot.twin.time() + max(0.0, -min(at for at, _ in events))
            due = sorted(((ordered + at, act) for at, act in events), key=lambda it: it[0])
            self._until(ordered, due)
            robot.control.send(signal.SIGTERM)
            self._until(ordered + GIVE_UP, due)
        finally:
            log.remove(self._note)
        self._due = due

    def untold(self, broken: float) -> bool:
        """Return True if the stack cannot distinguish a break at this time [s] from obedience."""
        return self.obeyed_at is None or self.obeyed_at - _UNTOLD < broken

    def check(self, untold: Sequence[str] = ()) -> None:
        """Raise RefutedError if the exit reports enabled motors, but for `untold`, as disabled."""
        claimed = [it for it in confirmed_at_exit(self._joints, self.lines) if it not in untold]
        if false := false_claims(claimed, partial(is_enabled, self._scene)):
            raise RefutedError(f"the exit calls {false} disabled: {self.lines[-3:]}")

    def guarded(self, reachable: Sequence[str]) -> None:
        """Wait for the end of the guard. Raises RefutedError if motors it can reach are enabled."""
        robot, scene = self._robot, self._scene
        for at, act in self._due:
            robot.pass_until(at)
            act()
        guard = robot.stepped.guards.get(scene.bus)
        if guard is None:
            return
        if not robot.observer.within(_GUARD, lambda: guard.process.gone):
            raise RefutedError(f"the guard has not ended after {_GUARD:g} s")
        if left := false_claims(reachable, partial(is_enabled, scene)):
            raise RefutedError(f"exit and guard leave {left} enabled: {self.lines[-3:]}")

    def _until(self, end: float, due: list[Event]) -> None:
        """Let time pass until `end` [s], or until the control process has ended."""
        robot = self._robot
        while robot.control.runs and robot.twin.time() < end:
            while due and due[0][0] <= robot.twin.time():
                due.pop(0)[1]()
            robot.pass_until(robot.twin.time() + _LOOK)
            if self.obeyed_at is None and len(enabled(self._scene)) < len(self._joints):
                self.obeyed_at = robot.twin.time()

    def _note(self, process: str, severity: str, text: str) -> None:
        if process == MAIN and severity in ("error", "fatal", "critical"):
            self.lines.append(text)


def random_moment(scene: Scene) -> float:
    """Return the time [s] of a fault, after the order to end."""
    return scene.dice.uniform(-_BEFORE, _AFTER)


def _near_orders(scene: Scene) -> float:
    """Return such a time; half of the times just when the motors get their orders."""
    if scene.dice.random() < 0.5:
        return scene.dice.uniform(*_ORDERED)
    return random_moment(scene)


def _cable_of_a_motor(scene: Scene) -> None:
    ending, broken = Exit(scene), [0.0]

    def cut() -> None:
        scene.can.can_cut(scene.motor)
        broken[0] = scene.robot.twin.time()

    ending.run([(random_moment(scene), cut)])
    ending.check([scene.joint] if ending.untold(broken[0]) else [])
    reachable = [it for it in scene.robot.joints.on_bus(scene.bus) if it != scene.joint]
    ending.guarded(reachable)


def _cable_of_all(scene: Scene) -> None:
    ending = Exit(scene)
    ending.run([(_near_orders(scene), scene.can.can_cut)])
    ending.check()
    ending.guarded([])


def _held_up(scene: Scene) -> None:
    ending = Exit(scene)
    held = [scene.dice.uniform(*HELD) for _ in range(scene.dice.randint(1, 2))]
    moments = [_near_orders(scene) for _ in held]
    acts = [partial(scene.can.can_hold_up, it) for it in held]
    ending.run(list(zip(moments, acts, strict=True)))
    ending.check()
    ending.guarded(scene.robot.joints.on_bus(scene.bus))


def _unplugged(scene: Scene, hangs: float = 0.0) -> None:
    """Unplug the adapter; plug it in again while the guard still tries.

    `hangs`: for this time [s] before, the adapter keeps what it is given, which is lost then.
    """
    ending, moment = Exit(scene), scene.dice.uniform(*_UNPLUGS)
    back = moment + scene.dice.uniform(*_UNPLUGGED)
    hang = partial(scene.can.can_hold_up, hangs)
    ending.run(
        [(moment - hangs, hang), (moment, scene.can.can_unplug), (back, scene.can.can_plug_in)]
    )
    ending.check()
    if guarded(scene):
        ending.guarded(scene.robot.joints.on_bus(scene.bus))


def _unplugged_without_guard(scene: Scene) -> None:
    """End the guard first: the exit starts another one if it fails."""
    robot = simulated(scene)
    robot.signal_guard(scene.bus, signal.SIGKILL)
    robot.pass_until(robot.twin.time() + _NOTICED)
    _unplugged(scene, hangs=scene.dice.uniform(*HELD))


def _destroyed(scene: Scene) -> None:
    ending = Exit(scene)
    counts = [scene.dice.randint(1, 40) for _ in range(scene.dice.randint(1, 3))]
    ending.run([(random_moment(scene), partial(scene.can.can_corrupt_next, it)) for it in counts])
    ending.check()
    ending.guarded(scene.robot.joints.on_bus(scene.bus))


exit_kind: Final = partial(
    Kind,
    strikes=TargetJoint.CAN,
    outcome=Outcome.OFF,
    within=2.5,
    recovery=Recovery.RESTART,
    filed=RequiredRecord.NOTHING,
    dies=(MAIN,),
    allowed=(Allowed(ViolationType.SPEED, 5.5, _FALLS), Allowed(ViolationType.JUMP, 0.1, _FALLS)),
    alone=True,
)

KINDS: Final = (
    exit_kind(
        name="exit: cable of a motor cut",
        inject=_cable_of_a_motor,
        mend=motor(CanMethods.can_mend),
        spared=unheard,
    ),
    exit_kind(
        name="exit: cable of the CAN bus cut",
        inject=_cable_of_all,
        mend=on_bus(CanMethods.can_mend),
        spared=unreachable,
    ),
    exit_kind(name="exit: adapter held up", inject=_held_up),
    exit_kind(
        name="exit: adapter unplugged for a while",
        inject=_unplugged,
        mend=on_bus(CanMethods.can_plug_in),
        within=4.0,
    ),
    exit_kind(
        name="exit: guard killed, and adapter unplugged for a while",
        inject=_unplugged_without_guard,
        mend=on_bus(CanMethods.can_plug_in),
        strikes=TargetJoint.GUARDED,
        within=5.5,
        raises=r"^control: the guard of .* ended with exit code -9$",
    ),
    exit_kind(
        name="exit: frames destroyed",
        inject=_destroyed,
        mend=on_bus(lambda can: can.can_corrupt_next(0)),  # the exit may have sent fewer
    ),
)
