"""Collect the state that `hc status` shows."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from diagnostic_msgs.msg import DiagnosticArray
from humanoid_control_msgs.msg import SafetyStatus, TrajectoryState
from sensor_msgs.msg import JointState

from humanoid_control_cli.client import Client
from humanoid_control_cli.mode_client import ModeClient
from humanoid_control_cli.motion.states import STATE, trajectory_controllers
from humanoid_control_cli.robot.message_rate import Stream
from humanoid_control_cli.statements import StampedStatement
from humanoid_control_common.middleware.qos_profiles import LATCHED_HISTORY
from humanoid_control_common.robot.robot_namespace import frame_prefix
from humanoid_control_common.rules.diagnosis import CODES, Diagnosis, DiagnosisLevel
from humanoid_control_common.rules.safety import SafetyReport
from humanoid_controller_manager.ros.topics.safety_messages import safety_report
from humanoid_recording.topics import JOINT_STATES

TIMING: Final = "control loop: timing"  # the diagnostic status with the loop's pace
LIMITS: Final = "control loop: limits"
REMOTE: Final = "remote: commands"  # what became of the commands that came for REMOTE
SPAN: Final = 0.5  # [s] over which the rate of the joint states is measured at least
REST: Final = 0.1  # [s] after the loop's timing in which all other topics of 1 Hz arrive


@dataclass(frozen=True, slots=True)
class JointRow:
    """One joint's state."""

    name: str
    position: float  # [rad]
    velocity: float  # [rad/s]
    effort: float  # [Nm]


@dataclass(slots=True)
class Status:
    """The latest message of each topic; empty where none has arrived."""

    statement: StampedStatement | None = None
    joints: list[JointRow] = field(default_factory=list)
    joint_states: Stream = field(default_factory=Stream)
    joint_states_age: float = 0.0  # [s] since the latest arrival
    safety: dict[str, SafetyReport] = field(default_factory=dict)  # by source
    diagnoses: dict[str, Diagnosis] = field(default_factory=dict)  # by name
    motions: dict[str, TrajectoryState] = field(default_factory=dict)  # by controller

    @property
    def complete(self) -> bool:
        """True if every topic of a control process has had a message."""
        flowing = self.joint_states.span >= SPAN
        return flowing and self.statement is not None and TIMING in self.diagnoses


def codes_of(report: SafetyReport) -> Iterator[str]:
    """Yield the reason codes of a report; the names of its flags are codes, too."""
    yield from report.codes
    for flag in report.flags:
        if flag.name:
            yield flag.name


def collect(
    client: Client, on_statement: Callable[[StampedStatement], object] = lambda _: None
) -> Status:
    """Collect until the status is complete, or for the client's timeout.

    `on_statement` is called with the first statement, about a second before the rest has come.

    Raises NoAnswerError if no message has arrived at all.
    """
    status = Status()
    modes = ModeClient(client)
    client.subscribe(JointState, JOINT_STATES, partial(_note_joint_states, status))
    client.subscribe(SafetyStatus, "safety_status", partial(_note_safety, status), LATCHED_HISTORY)
    prefix = frame_prefix(client.node.get_namespace())
    client.subscribe(DiagnosticArray, "diagnostics", partial(_note_diagnoses, status, prefix))

    def complete() -> bool:
        if status.statement is None and modes.latest is not None:
            on_statement(modes.latest)
        status.statement = modes.latest
        return status.complete

    client.wait(complete, client.timeout)
    for name in trajectory_controllers(client.node):
        keep = partial(status.motions.__setitem__, name)
        client.subscribe(TrajectoryState, f"{name}/{STATE}", keep, LATCHED_HISTORY)
    client.wait(lambda: False, REST)
    status.joint_states_age = time.monotonic() - status.joint_states.last
    if not (status.statement or status.joints or status.diagnoses):
        raise client.no_control_process()
    return status


def _note_joint_states(status: Status, message: Any) -> None:
    status.joint_states.arrive(time.monotonic())
    columns = (message.name, message.position, message.velocity, message.effort)
    status.joints = [JointRow(*row) for row in zip(*columns, strict=False)]


def _note_safety(status: Status, message: Any) -> None:
    status.safety[message.source] = safety_report(message)


def _note_diagnoses(status: Status, prefix: str, message: Any) -> None:
    for item in message.status:
        values = {value.key: value.value for value in item.values}
        codes = tuple(values.pop(CODES, "").split())
        level = DiagnosisLevel(min(item.level[0], max(DiagnosisLevel)))
        source = item.hardware_id.removeprefix(prefix)
        status.diagnoses[item.name] = Diagnosis(
            item.name, level, item.message, values, source, codes
        )
