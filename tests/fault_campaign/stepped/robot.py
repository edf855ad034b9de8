"""The robot of a campaign on one simulated clock."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

from std_msgs.msg import String

from fault_campaign.approach import lead_to_start
from fault_campaign.campaign_controllers import PLUGIN, write_controllers
from fault_campaign.disturbing.sabotage import DEFECTS
from fault_campaign.judging import links
from fault_campaign.judging.observer import Observer
from fault_campaign.programs import UnexpectedEnd
from fault_campaign.robot import (
    BEAT,
    MAIN,
    OPERATOR,
    SLCAN,
    Robot,
    Sabotage,
)
from fault_campaign.robot_joints import PRIME, RobotJoints, TargetJoint
from fault_campaign.scenario import Start, Wave
from fault_campaign.stepped.mountings import random_mountings, write_calibration
from fault_campaign.stepped.programs import SteppedProgram
from fault_campaign.stepped.sdo_judge import SdoJudge
from fault_campaign.stepped.stream_client import JointStream
from fault_campaign.stepped.wiring import wired_anew
from humanoid_control_cli.robot.operator_requests import BEAT_PERIOD, HEARTBEAT_TOPIC
from humanoid_controller_manager.plugins import forget_plugins
from humanoid_controller_manager.ros.process.end_requests import EndRequests
from humanoid_stepped.participant import Participant
from humanoid_stepped.processes import StackProcess
from humanoid_stepped.python_log import PythonLog
from humanoid_stepped.robot import SteppedRobot, stepped_options
from humanoid_stepped.ros.session import SteppedSession
from humanoid_stepped.scheduler import NEVER, Process
from humanoid_stepped.stepped_machine import EPOCH

MAILBOX_DELAY: Final = 0.002  # [s]


class SimulatedRobot(Robot):
    """See Robot. The robot is up after its creation.

    Args:
        folder: for files of the run, those of each adapter apart.
        sabotage: the defect of the stack, or None; it changes classes in this process.
        joints: those of the robot.
        adapter: see Robot.
    """

    def __init__(
        self,
        folder: Path,
        sabotage: Sabotage | None = None,
        joints: RobotJoints = PRIME,
        adapter: str = SLCAN,
    ) -> None:
        seed, files = f"{joints.robot} {adapter}", folder / adapter
        super().__init__(wired_anew(files, joints, seed))
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
        """See Robot: this ends at the exact time, at any phase of periodic threads."""
        self.machine.sleep(time - self.twin.time())

    def _seed(self, seed: str) -> None:
        self.stepped.scheduler.random.seed(f"{seed} order")
        self.stepped.virtual.frame_faults.random.seed(f"{seed} ring")

    def date(self) -> float:
        """See Robot."""
        return (self.stepped.scheduler.now + EPOCH) / 1e9

    def held_up(self) -> float:
        """See Robot: this machine cannot hold a simulated robot up."""
        return 0.0

    def signal_guard(self, bus: str, number: signal.Signals) -> None:
        """See Robot."""
        guard = self.stepped.guards.get(bus)
        if guard is None or guard.process.gone:
            return
        if number is signal.SIGKILL:
            guard.process.killed = True
        else:
            guard.process.held_until = NEVER if number is signal.SIGSTOP else 0

    @contextmanager
    def joint_stream(self, waves: Mapping[str, Wave]) -> Iterator[None]:
        """See Robot."""
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
        """See Robot."""
        self.stepped.scheduler.system_offset = round(seconds * 1e9)

    def _deaths_of_children(self) -> list[UnexpectedEnd]:
        """See Robot: the guards are the only children."""
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
