"""The robot of a campaign, on one simulated clock."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from std_msgs.msg import String

from fault_campaign.approach import lead_to_start
from fault_campaign.campaign_controllers import PLUGIN, write_controllers
from fault_campaign.disturbing.sabotage import DEFECTS
from fault_campaign.judging import links
from fault_campaign.judging.health import ailing
from fault_campaign.judging.observer import Observer
from fault_campaign.judging.process_ends import Ends
from fault_campaign.programs import UnexpectedEnd
from fault_campaign.robot_joints import PRIME, RobotJoints, TargetJoint
from fault_campaign.scenario import Start, Wave
from fault_campaign.stepped.mountings import random_mountings, write_calibration
from fault_campaign.stepped.programs import SteppedProgram
from fault_campaign.stepped.sdo_judge import SdoJudge
from fault_campaign.stepped.stream_client import JointStream
from fault_campaign.stepped.wiring import wired_anew
from humanoid_control_cli.robot.operator_requests import BEAT_PERIOD, HEARTBEAT_TOPIC
from humanoid_control_common.rules.modes import Mode
from humanoid_controller_manager.plugins import forget_plugins
from humanoid_controller_manager.ros.process.end_requests import EndRequests
from humanoid_controllers.mode_manager.rest_detection import SLOW
from humanoid_stepped.participant import Participant
from humanoid_stepped.processes import StackProcess
from humanoid_stepped.python_log import PythonLog
from humanoid_stepped.robot import SteppedRobot, stepped_options
from humanoid_stepped.ros.session import SteppedSession
from humanoid_stepped.scheduler import NEVER, Process
from humanoid_stepped.stepped_machine import EPOCH

UP: Final = 60.0  # [s] until a new control process publishes joint states
HEALTHY: Final = 15.0  # [s] until faults can be cleared
MAIN: Final = "control"
BOX: Final = "black_box"
OPERATOR: Final = "operator"  # the robot waits for its heartbeat
BEAT: Final = 1.5  # [s] timeout of the heartbeat
COMMANDED: Final = 1.0  # [s] within which each motor on a CAN bus gets a command
MAILBOX_DELAY: Final = 0.002  # [s]
NO_ANSWER: Final = "no answer"
SOCKETCAN: Final = "socketcan"
SLCAN: Final = "slcan"


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


class NotHealthyError(Exception):
    """The robot cannot be brought to DAMPING without a fault."""


class Robot:
    """The virtual robot, the programs of the stack and an observer; it is up after its creation.

    `machine` is the machine of the observer; its clock gives all times of this class.

    Args:
        folder: for files of the run, those of each adapter apart.
        sabotage: the defect of the stack, or None; it changes classes in this process.
        joints: those of the robot.
        adapter: its CAN interface, by python-can's name: SOCKETCAN or SLCAN.
    """

    stands: Start | None = None  # the mode in which a prepared robot stands

    def __init__(
        self,
        folder: Path,
        sabotage: Sabotage | None = None,
        joints: RobotJoints = PRIME,
        adapter: str = SLCAN,
    ) -> None:
        seed, files = f"{joints.robot} {adapter}", folder / adapter
        self.joints = wired_anew(files, joints, seed)
        self._refusals: list[Refusal] = []
        links.prepare(self.joints)
        self.adapter = adapter
        if str(PLUGIN) not in sys.path:
            sys.path.insert(0, str(PLUGIN))
            forget_plugins()
        if sabotage is not None:
            DEFECTS[sabotage.defect]()
        self.stepped = stepped = _stepped_robot(files, self.joints, adapter, seed)
        self.twin = stepped.virtual.control
        self.sdo_judge: SdoJudge | None = None  # for a robot with EtherCAT drives
        if joints.of(TargetJoint.RING):
            self.sdo_judge = SdoJudge(stepped)
            self.twin.mailbox_delay(MAILBOX_DELAY)
        self.stream: JointStream | None = None  # while there is one
        own = Participant(stepped, "observer")
        self.machine = own.machine
        self.observer = Observer(own.node, own.machine, own.spin)
        beats = StackProcess(OPERATOR, stepped.session, _beat)
        self.programs: dict[str, SteppedProgram] = {
            process.label: SteppedProgram(process, self.machine.sleep)
            for process in (beats, *stepped.processes.values())
        }
        PythonLog(stepped).__enter__()  # until the end of this process
        stepped.log.append(self._note_exceptions)
        self._dead_guards: set[Process] = set()  # told
        self._start()
        self.healthy()
        self.refusals()

    def prepare(self, start: Start, seed: str) -> None:
        """Lead the healthy robot to `start` for the next trial; `seed` decides on the way.

        `stands` is `start` if the robot reached it.
        """
        self._seed(seed)
        self.observer.forget()
        self.stands = start if lead_to_start(self.observer, start) else None

    def begin(self, seed: int) -> None:
        """Begin a trial: the seed decides on all that follows."""
        self._seed(f"{seed}")

    def pass_until(self, time: float) -> None:
        """Let time pass until a robot time [s], at any phase of periodic threads."""
        self.machine.sleep(time - self.twin.time())

    def _seed(self, seed: str) -> None:
        self.stepped.scheduler.random.seed(f"{seed} order")
        self.stepped.virtual.frame_faults.random.seed(f"{seed} ring")

    def date(self) -> float:
        """Return the true time [s since 1970], not the clock that faults step."""
        return (self.stepped.scheduler.now + EPOCH) / 1e9

    def signal_guard(self, bus: str, number: signal.Signals) -> None:
        """Send a signal to the guard of a CAN bus if it runs."""
        guard = self.stepped.guards.get(bus)
        if guard is None or guard.process.gone:
            return
        if number is signal.SIGKILL:
            guard.process.killed = True
        else:
            guard.process.held_until = NEVER if number is signal.SIGSTOP else 0

    @contextmanager
    def joint_stream(self, waves: Mapping[str, Wave]) -> Iterator[None]:
        """Move all joints by a client of the joint stream inside the context."""
        self.stream = JointStream(self.stepped, self.observer, waves)
        self.stream.begin()
        try:
            yield
        finally:
            self.stream.end()

    def hold_thread(self, label: str, name: str, seconds: float) -> None:
        """Stop a thread of a process, as a thread without a processor."""
        scheduler = self.stepped.scheduler
        for task in scheduler.tasks:
            if (task.process.name, task.name) == (label, name):
                task.held_until = scheduler.now + round(seconds * 1e9)

    def step_clock(self, seconds: float) -> None:
        """Set the system's clock to the true time plus `seconds`."""
        self.stepped.scheduler.system_offset = round(seconds * 1e9)

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
    def control(self) -> SteppedProgram:
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
            found = f"{observer.now.status_message!r}, {ailing(self)}, {obeyed}"
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
        return observer.now.mode == Mode.DAMPING and cleared and not ailing(self)

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

    def _deaths_of_children(self) -> list[UnexpectedEnd]:
        """Return the deaths of guards, the only children of programs, since the last call."""
        guards = {it.process for it in self.stepped.guards.values() if it.process.killed}
        news = guards - self._dead_guards if self.control.runs else set()
        self._dead_guards |= news
        return [UnexpectedEnd(f"{MAIN}'s child", "the guard has ended") for _ in news]

    def _note_exceptions(self, process: str, severity: str, text: str) -> None:
        if "Traceback (most recent call last)" in text and process in self.programs:
            self.programs[process].note(text.strip().splitlines()[-1])


def _stepped_robot(folder: Path, joints: RobotJoints, adapter: str, seed: str) -> SteppedRobot:
    """Return the robot with the mountings of `seed`; `joints` have its wiring."""
    mountings = random_mountings(joints, seed)
    options = stepped_options(
        joints.robot,
        adapter,
        hardware_config=joints.package.drives.hardware,
        calibration_file=write_calibration(folder, joints, mountings),
        controllers_file=write_controllers(folder, joints),
        heartbeats={OPERATOR: BEAT},
    )
    return SteppedRobot(0, folder, replace(options, robot=joints.package), mountings=mountings)


def _beat(session: SteppedSession, requests: EndRequests) -> int:
    """The program `hc heartbeat`."""
    topic = session.node(OPERATOR, services=False).create_publisher(String, HEARTBEAT_TOPIC, 10)
    while not (requests.in_order or requests.at_once):
        topic.publish(String(data=OPERATOR))
        session.machine.sleep(BEAT_PERIOD)
    return 0
