"""REMOTE: follows the joint stream of a program without ROS."""

import os
from collections.abc import Callable, Mapping
from typing import ClassVar, Final, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from humanoid_control_common.configuration.config import StrictModel
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.memory_file import boot_id, process_start
from humanoid_control_common.robot.mit_interface import Capability, JointCommand, JointState
from humanoid_control_common.rules.modes import Mode
from humanoid_controller_manager.controller import Controller, ModeGains, RobotFacts
from humanoid_joint_client.status import Execution
from humanoid_joint_stream.command.stream_execution import ServerState, StreamExecution
from humanoid_joint_stream.facts import SECOND, EffortTable, StreamFacts
from humanoid_joint_stream.shared.records import SentCommand
from humanoid_joint_stream.shared.stream_file import StreamFile, Word

_REMARKS: Final = {
    Execution.FALLBACK: "the joint stream has ended: its client must activate it again",
    Execution.FAULT: "velocity safety limit exceeded: the client of the joint stream must clear it",
}


class EffortTableParameters(StrictModel):
    """Limit of a joint's effort by its position."""

    position: list[float] = Field(min_length=2, description="Rising [rad].")
    effort: list[float] = Field(min_length=2, description="At these positions, >= 0 [Nm].")

    @model_validator(mode="after")
    def _is_a_line(self) -> Self:
        if len(self.position) != len(self.effort):
            raise ValueError(
                f"{len(self.position)} positions and {len(self.effort)} efforts, expected as many"
            )
        if not (np.all(np.diff(self.position) > 0.0) and np.all(np.isfinite(self.position))):
            raise ValueError("the positions do not rise")
        if not all(0.0 <= value < np.inf for value in self.effort):
            raise ValueError("an effort is negative or not finite")
        return self


class JointStreamParameters(StrictModel):
    """Parameters of the joint stream."""

    stiffness: float = Field(
        gt=0.0, allow_inf_nan=False, description="Of the mode, and of the pose at entry [Nm/rad]."
    )
    damping: float = Field(
        gt=0.0,
        allow_inf_nan=False,
        description="Of the mode, the pose at entry and the fallback [Nm*s/rad].",
    )
    fallback: Literal["damp", "hold"] = Field(
        default="damp",
        description="When a command is over: stiffness 0 and the damping above; or the measured "
        "pose held with the latest gains.",
    )
    resume_after_expiry: bool = Field(
        default=False, description="Whether a new command continues after one has expired."
    )
    ignore_unsupported: bool = Field(
        default=False, description="Ignore what a joint can't do, instead of refusing the update."
    )
    max_horizon: float = Field(
        default=1.0, gt=0.0, le=10.0, description="Of an update's end time [s]."
    )
    velocity_safety_floor: float = Field(
        default=0.0,
        ge=0.0,
        allow_inf_nan=False,
        description="Velocity limit that is always active [rad/s]; 0: none.",
    )
    effort_tables: dict[str, EffortTableParameters] = Field(
        default_factory=dict, description="Limits of efforts that depend on the position, by joint."
    )


class JointStreamController(Controller):
    """Executes the commands that the server leaves in shared memory.

    See StreamExecution. Without a file of shared memory, see `connect`, it holds the pose.
    """

    Parameters = JointStreamParameters
    mode: ClassVar[Mode] = Mode.REMOTE
    needs: ClassVar[Mapping[str, Capability]] = {
        "position": Capability.PER_TICK,
        "stiffness": Capability.PER_MODE,
        "damping": Capability.PER_MODE,
    }

    def on_configure(self, parameters: JointStreamParameters, robot: RobotFacts) -> None:
        """See Controller."""
        try:
            robot.joints.indices(parameters.effort_tables)
        except ConfigError as error:
            raise ConfigError(f"effort_tables: {error}") from error
        self._gains = ModeGains(parameters.stiffness, parameters.damping)
        self.facts = _facts(parameters, robot)
        self._execution = StreamExecution(self.facts)
        self._file: StreamFile | None = None
        self._clock: Callable[[], int] | None = None
        self._number = 0  # of the command read last
        self._newest: tuple[int, SentCommand] | None = None
        self._remark = ""

    def connect(self, file: StreamFile, clock: Callable[[], int] | None) -> None:
        """Take commands from `file` and report to it; before the loop uses this controller.

        `clock` returns the robot's clock [ns], if that is not the loop's.
        """
        self._file, self._clock = file, clock
        self._note()

    @property
    def file(self) -> StreamFile | None:
        """The shared memory, if it is connected."""
        return self._file

    @property
    def gains(self) -> ModeGains:
        """See Controller."""
        return self._gains

    @property
    def remark(self) -> str:
        """See Controller."""
        return self._remark

    def on_activate(self, state: JointState, command: JointCommand, now: float) -> None:
        """See Controller. Commands of the past are dropped."""
        seen = self._file.commands.number if self._file is not None else 0
        self._number, self._newest = seen, None
        self._execution.begin(state, self._server_state(), seen)
        self._note()

    def update(self, state: JointState, command: JointCommand, now: float, period: float) -> None:
        """See Controller."""
        time = round(now * SECOND) if self._clock is None else self._clock()
        self._read()
        self._execution.step(state, command, time, period, self._server_state(), self._newest)
        self._note()

    def on_deactivate(self) -> None:
        """See Controller."""
        self._execution.leave()
        self._note()

    def on_cleanup(self) -> None:
        """See Controller. The server requests REMOTE no more: it is another controller's."""
        if self._file is not None:
            self._file.words[Word.UNLOADED] = 1

    # Inside.

    def _server_state(self) -> ServerState:
        if self._file is None:
            return ServerState(0, 0, 0)
        words = self._file.words
        return ServerState(words[Word.HEARTBEAT], words[Word.ACTIVATION], words[Word.CLEARED])

    def _read(self) -> None:
        if self._file is None or self._file.commands.number == self._number:
            return
        found = self._file.commands.read()
        if found is not None:
            self._number = found[0]
            self._newest = found[0], SentCommand.from_bytes(found[1])

    def _note(self) -> None:
        report = self._execution.report
        self._remark = _REMARKS.get(Execution(report.execution), "")
        if self._file is not None:
            self._file.reports.write(report.to_bytes())


def _facts(parameters: JointStreamParameters, robot: RobotFacts) -> StreamFacts:
    limits, count = robot.limits, len(robot.joints)
    every = np.full((5, count), Capability.PER_TICK)
    acts = every if robot.capabilities is None else robot.capabilities
    pid = os.getpid()
    return StreamFacts(
        pid=pid,
        process_start=process_start(pid),
        boot_id=boot_id(),
        joints=robot.joints.names,
        lower=tuple(limits.target_lower.tolist()),
        upper=tuple(limits.target_upper.tolist()),
        velocity=tuple(limits.velocity.tolist()),
        effort=tuple(limits.effort.tolist()),
        effort_tables={
            joint: EffortTable(tuple(it.position), tuple(it.effort))
            for joint, it in parameters.effort_tables.items()
        },
        capabilities=tuple(tuple(int(value) for value in row) for row in acts),
        update_rate=robot.update_rate,
        stiffness=parameters.stiffness,
        damping=parameters.damping,
        fallback=parameters.fallback,
        resume_after_expiry=parameters.resume_after_expiry,
        ignore_unsupported=parameters.ignore_unsupported,
        max_horizon=round(parameters.max_horizon * SECOND),
        velocity_floor=parameters.velocity_safety_floor,
    )
