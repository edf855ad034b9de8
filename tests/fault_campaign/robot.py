"""The robot of a campaign, in wall time or on one simulated clock."""

from __future__ import annotations

import signal
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from fault_campaign.judging.bounds import DAMPED, DAMPED_SHARE, VELOCITY_GAIN
from fault_campaign.judging.process_ends import Ends
from fault_campaign.robot_joints import RobotJoints, TargetJoint
from fault_campaign.scenario import Start, Wave
from humanoid_control_common.machine.machine import Machine
from humanoid_control_common.rules.modes import Mode
from humanoid_controllers.mode_manager.rest_detection import SLOW
from humanoid_twin.erob.parameters import DriveParameters
from humanoid_twin.ethercat.commands import DriveReport
from humanoid_twin.robot.control import RobotControl

if TYPE_CHECKING:
    from fault_campaign.judging.observer import Observer
    from fault_campaign.judging.violation import Violation
    from fault_campaign.programs import UnexpectedEnd

UP: Final = 60.0  # [s] until a new control process publishes joint states
HEALTHY: Final = 15.0  # [s] until faults can be cleared
MAIN: Final = "control"
BOX: Final = "black_box"
OPERATOR: Final = "operator"  # the robot waits for its heartbeat
BEAT: Final = 1.5  # [s] timeout of the heartbeat: longer than the hold-ups of ROS here
MISSTATED: Final = 0.02  # [rad] largest error of the published position of a joint at rest
AGE: Final = 0.1  # [s] largest age of the joint states
COMMANDED: Final = 1.0  # [s] within which each motor on a CAN bus gets a command
NO_ANSWER: Final = "no answer"
SOCKETCAN: Final = "socketcan"
SLCAN: Final = "slcan"
_STATE_BITS, _OPERATION_ENABLED = 0x6F, 0x27  # of the statusword (CiA 402)


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refusal of clear_fault."""

    at: float  # [s] monotonic
    text: str
    codes: tuple[str, ...] = ()  # empty: no answer


@dataclass(frozen=True, slots=True)
class Sabotage:
    """A defect in one program."""

    label: str
    defect: str  # of `fault_campaign.disturbing.sabotage`


class RobotProgram(Protocol):
    """One program of the stack. See Program."""

    label: str

    @property
    def runs(self) -> bool:
        """Return True if the program runs or is stopped."""

    def processes(self, word: str = "") -> list[int]:
        """Return the ids of the process and its children that have `word` in their command line."""

    def text(self) -> str:
        """Return the output."""

    def start(self) -> None:
        """Start the program if it does not run."""

    def send(self, number: signal.Signals) -> None:
        """Send the program a signal if it runs."""

    def wait(self, timeout: float = ...) -> bool:
        """Wait until the program has ended. Return False if it has not."""

    def end(self, timeout: float = ...) -> None:
        """End the program."""

    def deaths(self) -> list[UnexpectedEnd]:
        """Return the deaths since the last call."""

    def stuck(self) -> list[Violation]:
        """Return a violation for each time the program had to be killed since the last call."""

    def exceptions(self) -> list[str]:
        """Return the exceptions in the log since the last call."""


class NotHealthyError(Exception):
    """The robot cannot be brought to DAMPING without a fault."""


class Robot(ABC):
    """The virtual robot, the programs of the stack and an observer.

    `machine` is the machine of the observer; its clock gives all times of this class.
    """

    machine: Machine
    observer: Observer
    twin: RobotControl
    programs: Mapping[str, RobotProgram]
    stands: Start | None = None  # the mode in which a prepared robot stands
    adapter: str = SLCAN  # its CAN interface, by python-can's name: SOCKETCAN or SLCAN

    def __init__(self, joints: RobotJoints) -> None:
        self.joints = joints
        self._refusals: list[Refusal] = []

    @abstractmethod
    def date(self) -> float:
        """Return the true time [s since 1970], not the clock that faults step."""

    @abstractmethod
    def held_up(self) -> float:
        """Return the longest time [s] without the virtual robot running, since the last call."""

    @abstractmethod
    def signal_guard(self, bus: str, number: signal.Signals) -> None:
        """Send a signal to the guard of a CAN bus if it runs."""

    @abstractmethod
    def step_clock(self, seconds: float) -> None:
        """Set the system's clock to the true time plus `seconds`."""

    @abstractmethod
    def _deaths_of_children(self) -> list[UnexpectedEnd]:
        """Return the deaths of children of the programs since the last call."""

    def joint_stream(self, waves: Mapping[str, Wave]) -> AbstractContextManager[object]:
        """Return a client that moves all joints by the joint stream while the context is open.

        Raises NotImplementedError: it exists on the stepped robot only.
        """
        raise NotImplementedError

    def restart(self) -> None:
        """End all processes in order, and start them again. Raises NotHealthyError."""
        self._end()
        self._start()

    def ends(self) -> Ends:
        """Return ends and exceptions of the processes since the last call."""
        programs = list(self.programs.values())
        deaths = [death for program in programs for death in program.deaths()]
        return Ends(
            [*deaths, *self._deaths_of_children()],
            [it for program in programs for it in program.stuck()],
            [f"{it.label}: {text}" for it in programs for text in it.exceptions()],
        )

    @property
    def control(self) -> RobotProgram:
        """Return the control process."""
        return self.programs[MAIN]

    def healthy(self) -> None:
        """Bring the robot to DAMPING, confirmed and without a fault. Raises NotHealthyError."""
        observer = self.observer
        if not all(program.runs for program in self.programs.values()):
            self.restart()
        damped = observer.comes_to(Mode.DAMPING, HEALTHY)
        cleared = observer.within(HEALTHY, self._clear) and observer.unload(HEALTHY)
        if not (cleared and observer.within(HEALTHY, self._well) and self._motors_commanded()):
            obeyed = f"DAMP obeyed: {damped}, faults cleared: {cleared}"
            found = f"{observer.now.status_message!r}, {self.ailing()}, {obeyed}"
            raise NotHealthyError(f"mode {observer.now.mode}: {found}")

    def refusals(self) -> list[Refusal]:
        """Return the refusals of clear_fault since the last call."""
        found, self._refusals = self._refusals, []
        return found

    def record(self) -> None:
        """Start the black box if it does not run; wait until it records. Raises NotHealthyError."""
        self.observer.recording = False
        self.programs[BOX].start()
        # A black box that ends during its start would leave the content of the memory to the next
        # one.
        if not self.observer.within(UP, lambda: self.observer.recording):
            raise NotHealthyError(f"the black box did not start: {self.programs[BOX].text()}")

    def ailing(self) -> list[str]:
        """Return the obstacles to health: drive faults, no damping, and wrong joint states."""
        drives = self.twin.drives() if self.joints.of(TargetJoint.RING) else []
        erobs = [f"drive {i}: 0x{it['error']:04X}" for i, it in enumerate(drives) if it["error"]]
        motors = [f"motor {i}" for bus in self.joints.buses
                  for i, motor in self.twin.bus(bus).can_drives().items()
                  if motor["firmware"]["faults"] or not motor["firmware"]["enabled"]]  # fmt: skip
        undamped = [f"{joint}: {text}" for joint, text in self.undamped().items()]
        return [*erobs, *motors, *undamped, *self._misstated()]

    def undamped(self) -> dict[str, str]:
        """Return the joints without the damping of DAMPING, each with what its drive has."""
        least = DAMPED_SHARE * DAMPED[self.joints.robot]
        found = {}
        ring = self.joints.actuators.ring
        for row, drive in zip(ring, self.twin.drives() if ring else [], strict=True):
            own = row.parameters(DriveParameters())
            unit = VELOCITY_GAIN * own.torque_constant * own.gear
            found[row.joint] = unit * drive["vel_reg"] * drive["gate"] * _is_enabled(drive)
        for bus in self.joints.buses:
            motors = self.twin.bus(bus).can_drives()
            for joint in self.joints.on_bus(bus):
                motor = motors.get(self.joints.motor(joint))
                has_torque = motor is not None and motor["powered"] and motor["firmware"]["enabled"]
                found[joint] = motor["firmware"]["damping"] if motor and has_torque else 0.0
        return {
            joint: f"damping {damping:.2f} Nm s/rad"
            for joint, damping in found.items()
            if damping < least
        }

    def _misstated(self) -> Iterator[str]:
        """Yield the joints whose position differs from the latest joint states."""
        latest = self.observer.joint_states[-1]
        stated = dict(zip(latest.name, latest.position, strict=True))
        for joint, truth in self.twin.joints().items():
            bound = MISSTATED + AGE * abs(truth["velocity"])
            if not abs(stated[joint] - truth["position"]) < bound:
                yield f"{joint}: stated {stated[joint]:.3f} rad, is {truth['position']:.3f}"

    def pass_until(self, time: float) -> None:
        """Receive messages until a robot time [s]."""
        self.observer.within(UP, lambda: self.twin.time() >= time)

    def at_rest(self) -> bool:
        """Return True if no arm sinks: a raised arm that becomes limp falls freely."""
        return all(abs(joint["velocity"]) < SLOW for joint in self.twin.joints().values())

    def unload(self) -> None:
        """Remove all external torques."""
        for joint in self.joints.all:
            self.twin.external_torque(joint, 0.0)

    def _clear(self) -> bool:
        answer = self.observer.try_to_clear(2.0)
        if answer is not None and answer.success:
            return True
        now = self.machine.clock()
        if answer is None:
            self._refusals.append(Refusal(now, NO_ANSWER))
        else:
            self._refusals.append(Refusal(now, answer.message, tuple(answer.reason_codes)))
        return False

    def _well(self) -> bool:
        observer = self.observer
        # Other joints take their gains with each command.
        confirmed = not self.joints.of(TargetJoint.RING) or observer.confirmed()
        cleared = confirmed and not observer.diagnosed_fall
        return observer.now.mode == Mode.DAMPING and cleared and not self.ailing()

    def _motors_commanded(self) -> bool:
        """Wait until frames reach the motors of every CAN bus. Return False after a timeout."""

        def sent(bus: str) -> int:
            return self.twin.bus(bus).can_statistics()["adapter_sent"]

        enough = {bus: sent(bus) + len(self.joints.on_bus(bus)) for bus in self.joints.buses}
        return self.observer.within(
            COMMANDED, lambda: all(sent(bus) >= count for bus, count in enough.items())
        )

    def _start(self) -> None:
        observer = self.observer
        observer.listen_anew()
        for program in self.programs.values():
            program.start()
        up = observer.within(
            UP, lambda: (observer.statements and observer.joint_states) or not self.control.runs
        )
        if not (up and self.control.runs):
            ending = "\n".join(self.control.text().splitlines()[-15:])
            raise NotHealthyError(f"the control process did not start:\n{ending}")
        self.record()

    def _end(self) -> None:
        for program in reversed(list(self.programs.values())):
            program.end()


def _is_enabled(drive: DriveReport) -> bool:
    """Return whether a drive on the ring has torque."""
    return drive["powered"] and drive["statusword"] & _STATE_BITS == _OPERATION_ENABLED
