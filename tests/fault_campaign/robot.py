"""The robot of a campaign, whatever runs its processes: wall time or one simulated clock."""

from __future__ import annotations

import signal
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from fault_campaign.judging.process_ends import Ends
from fault_campaign.robot_joints import RobotJoints, Struck
from fault_campaign.scenario import Start
from humanoid_control_common.machine.machine import Machine
from humanoid_control_common.rules.modes import Mode
from humanoid_controllers.mode_manager.rest_watch import SLOW
from humanoid_twin.robot.control import RobotControl

if TYPE_CHECKING:
    from fault_campaign.judging.observer import Observer
    from fault_campaign.judging.violation import Violation
    from fault_campaign.programs import Death

UP: Final = 60.0  # [s] until a control process that was started has joint states
HEALTHY: Final = 15.0  # [s] until faults can be cleared
MAIN: Final = "control"
BOX: Final = "black_box"
OPERATOR: Final = "operator"  # whose heartbeat the robot waits for
BEAT: Final = 1.5  # [s] it may be silent: longer than what holds ROS up here
MISSTATED: Final = 0.02  # [rad] a joint may be beside its published position, at rest
AGE: Final = 0.1  # [s] of the joint states at most
COMMANDED: Final = 1.0  # [s] until each motor on a CAN bus has a command
NO_ANSWER: Final = "no answer"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Of clear_fault."""

    at: float  # [s] monotonic
    text: str
    codes: tuple[str, ...] = ()  # empty: no answer


@dataclass(frozen=True, slots=True)
class Sabotage:
    """A defect that one program has."""

    label: str
    defect: str  # of `fault_campaign.disturbing.sabotage`


class RobotProgram(Protocol):
    """One program of the stack. See Program."""

    label: str

    @property
    def runs(self) -> bool:
        """Return True if it runs or is stopped."""

    def processes(self, word: str = "") -> list[int]:
        """Return its processes with `word` in their command line: itself and its children."""

    def text(self) -> str:
        """Return its output."""

    def start(self) -> None:
        """Start it, if it doesn't run."""

    def send(self, number: signal.Signals) -> None:
        """Send it a signal, if it runs."""

    def wait(self, patience: float = ...) -> bool:
        """Wait until it has ended; False if it doesn't."""

    def end(self, patience: float = ...) -> None:
        """End it."""

    def deaths(self) -> list[Death]:
        """Return those since the last call."""

    def stuck(self) -> list[Violation]:
        """That it had to be killed, since the last call."""

    def exceptions(self) -> list[str]:
        """Return the exceptions in its log since the last call."""


class NotHealthyError(Exception):
    """The robot can't be brought into DAMPING without a fault."""


class Robot(ABC):
    """The virtual robot, the programs of the stack and an observer.

    `machine` is that of the observer: its clock is the one of all times here.
    """

    machine: Machine
    observer: Observer
    twin: RobotControl
    programs: Mapping[str, RobotProgram]
    interruption: float = 0.0  # [s] between two statements of a thread, at most
    stands: Start | None = None  # the mode in which it was prepared for the next trial, if so

    def __init__(self, joints: RobotJoints) -> None:
        self.joints = joints
        self._refusals: list[Refusal] = []

    @abstractmethod
    def date(self) -> float:
        """Return the time [s since 1970], whatever the system's clock was set to."""

    @abstractmethod
    def held_up(self) -> float:
        """Longest time [s] this machine had none for the virtual robot, since the last call."""

    @abstractmethod
    def signal_guard(self, bus: str, number: signal.Signals) -> None:
        """Send a signal to the guard of a CAN bus, if it runs."""

    @abstractmethod
    def step_clock(self, seconds: float) -> None:
        """Set the system's clock to so much [s] after the true time."""

    @abstractmethod
    def _deaths_of_children(self) -> list[Death]:
        """Return the deaths of processes that programs have started, since the last call."""

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
        """The control process."""
        return self.programs[MAIN]

    def healthy(self) -> None:
        """DAMPING, confirmed and without a fault, whatever was before. Raises NotHealthyError."""
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
        """Of clear_fault, since the last call."""
        found, self._refusals = self._refusals, []
        return found

    def record(self) -> None:
        """Start the black box, if it doesn't run, and wait until it watches. NotHealthyError."""
        self.observer.recording = False
        self.programs[BOX].start()
        # One that is ended while it starts would leave what is in the memory to the next one.
        if not self.observer.within(UP, lambda: self.observer.recording):
            raise NotHealthyError(f"the black box did not start: {self.programs[BOX].text()}")

    def ailing(self) -> list[str]:
        """Return the obstacles to health: of the drives, and of what is stated of the joints."""
        drives = self.twin.drives() if self.joints.of(Struck.RING) else []
        erobs = [f"drive {i}: 0x{it['error']:04X}" for i, it in enumerate(drives) if it["error"]]
        motors = [f"motor {i}" for bus in self.joints.buses
                  for i, motor in self.twin.bus(bus).can_drives().items()
                  if motor["firmware"]["faults"] or not motor["firmware"]["enabled"]]  # fmt: skip
        return [*erobs, *motors, *self._misstated()]

    def _misstated(self) -> Iterator[str]:
        """Yield the joints that are not where the latest joint states say."""
        latest = self.observer.joint_states[-1]
        stated = dict(zip(latest.name, latest.position, strict=True))
        for joint, truth in self.twin.joints().items():
            bound = MISSTATED + AGE * abs(truth["velocity"])
            if not abs(stated[joint] - truth["position"]) < bound:
                yield f"{joint}: stated {stated[joint]:.3f} rad, is {truth['position']:.3f}"

    def pass_until(self, time: float) -> None:
        """Listen until a time of the robot [s]."""
        self.observer.within(UP, lambda: self.twin.time() >= time)

    def at_rest(self) -> bool:
        """Return True if no arm is sinking: a raised arm that is made limp falls freely."""
        return all(abs(joint["velocity"]) < SLOW for joint in self.twin.joints().values())

    def unload(self) -> None:
        """Hands off."""
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
        confirmed = not self.joints.of(Struck.RING) or observer.confirmed()
        return observer.now.mode == Mode.DAMPING and confirmed and not self.ailing()

    def _motors_commanded(self) -> bool:
        """Return True once frames reach the motors of every CAN bus; False if none do."""

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
