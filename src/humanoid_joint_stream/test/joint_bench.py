"""Controller and server logic of the joint stream on one clock of the test."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from humanoid_control_common.robot.joints import FloatArray, JointLimits, JointSet
from humanoid_control_common.robot.mit_interface import JointCommand, JointState
from humanoid_control_common.rules.modes import Mode
from humanoid_controller_manager.controller import RobotFacts
from humanoid_joint_client import joint_stream_pb2 as pb
from humanoid_joint_client.status import Execution, Status
from humanoid_joint_stream.command.update import UpdateCheck
from humanoid_joint_stream.controller import JointStreamController, JointStreamParameters
from humanoid_joint_stream.facts import SECOND
from humanoid_joint_stream.server.command_stream import CommandStream, End
from humanoid_joint_stream.server.session import Session, Situation
from humanoid_joint_stream.shared.records import Report, SentCommand
from humanoid_joint_stream.shared.stream_file import StreamFile

JOINTS: Final = ("shoulder", "elbow", "wrist")
COUNT: Final = len(JOINTS)
UPPER: Final = 2.0  # [rad]
EFFORT: Final = 40.0  # [Nm]
PERIOD: Final = 10_000_000  # [ns]
MS: Final = 1_000_000  # [ns]
KP, KD = 30.0, 3.0
DAMPING: Final = 2.0  # of the mode


def update(now: int, **fields: Any) -> Any:
    """A valid first update, with changes; None leaves a field out."""
    kp, kd = fields.pop("k_q_p", [KP] * COUNT), fields.pop("k_qd_p", [KD] * COUNT)
    gains = fields.pop("gains", pb.Gains(k_q_p=kp, k_qd_p=kd))
    content = {
        "end_time": now + 50 * MS,
        "position": [0.1] * COUNT,
        "velocity": [0.0] * COUNT,
        "load": [0.0] * COUNT,
        "gains": gains,
    } | fields
    return pb.Update(**{name: value for name, value in content.items() if value is not None})


def later(now: int, **fields: Any) -> Any:
    """A valid later update, without gains."""
    return update(now, gains=None, **fields)


def robot_facts(capabilities: Any = None) -> RobotFacts:
    ones = np.ones(COUNT)
    limits = JointLimits(-UPPER * ones, UPPER * ones, 10.0 * ones, EFFORT * ones)
    return RobotFacts(JointSet(JOINTS), limits, SECOND / PERIOD, capabilities)


class Bench:
    """A robot in REMOTE with joints at positions of the test."""

    def __init__(self, capabilities: Any = None, **parameters: Any) -> None:
        self.now = 1000 * SECOND
        self.state = JointState(COUNT, np.zeros((3, COUNT)))
        self.command = JointCommand(COUNT)
        self.controller = JointStreamController()
        chosen = JointStreamParameters(**{"stiffness": 20.0, "damping": DAMPING} | parameters)
        self.controller.on_configure(chosen, robot_facts(capabilities))
        self.file = StreamFile.in_memory(self.controller.facts)
        self.controller.connect(self.file, None)
        self.session = Session(self.file, self.now)
        self.situation = Situation(Mode.REMOTE)
        self.server_lives = True
        self.lease = ""
        self.stream: CommandStream | None = None
        self.enter()

    def enter(self) -> None:
        """Enter REMOTE."""
        self.controller.on_activate(self.state, self.command, self.now / SECOND)
        self.situation = Situation(Mode.REMOTE)
        self.tick()

    def leave(self, situation: Situation) -> None:
        """Bring another controller into force."""
        self.controller.on_deactivate()
        self.situation = situation

    def following(self) -> Bench:
        """Activate, and open a stream."""
        self.session.begin_activation(self.now)
        self.open()
        return self

    def open(self) -> None:
        self.stream = CommandStream(self.file.facts, self.now)
        if not self.lease:
            self.lease = self.session.acquire_lease("bench", self.now)
        self.session.open_stream(self.stream, self.lease, self.now)
        assert self.stream.end is None

    def send(self, message: Any) -> None:
        assert self.stream is not None
        self.session.receive(self.stream, message, self.now)

    def overtake(self, message: Any) -> None:
        """Write the command of `message` for the next tick, without the server."""
        found = UpdateCheck(self.file.facts).check(message, self.now)
        activation = self.session.latest_activation
        sent = SentCommand(activation, found.key, found.velocity_limit, found.command)
        self.file.commands.write(sent.to_bytes())

    def tick(self, period: int = PERIOD) -> JointCommand:
        """Run a step of the server and a tick of the robot."""
        self.now += period
        if self.server_lives:
            self.session.has_lease(self.lease, self.now)
            self.session.poll(self.situation, self.now)
        seconds = self.now / SECOND
        self.controller.update(self.state, self.command, seconds, period / SECOND)
        return self.command

    def ticks(self, duration: int) -> list[FloatArray]:
        """Return the command of every tick for `duration` [ns], (5, n) each."""
        return [self.tick().array.copy() for _ in range(duration // PERIOD)]

    def poll(self) -> None:
        self.session.poll(self.situation, self.now)

    @property
    def report(self) -> Report:
        return self.file.report()

    @property
    def execution(self) -> Execution:
        return Execution(self.report.execution)

    @property
    def end(self) -> End:
        assert self.stream is not None
        assert self.stream.end is not None, "the stream is open"
        return self.stream.end

    def ends_with(self, status: Status, text: str) -> None:
        assert self.end.status is status
        assert text in self.end.message

    def is_damped(self) -> bool:
        """Return True for the fallback: no stiffness, no load, the damping of the mode."""
        rows = self.command.array
        return bool(
            rows[1:4].tolist() == [[0.0] * COUNT] * 3
            and rows[4].tolist() == [DAMPING] * COUNT
            and rows[0].tolist() == self.state.position.tolist()
        )
