"""The latest messages, written from any thread, and snapshots of them."""

import logging
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.rules.modes import Mode
from humanoid_viz.state.message_rates import UNKNOWN, Arrivals, JointStream
from humanoid_viz.state.model import RobotModel
from humanoid_viz.state.state import (
    Answer,
    Connection,
    JointRow,
    ModeInForce,
    SafetyReport,
    SafetyReports,
    SafetyRow,
    Snapshot,
    StandbyProgress,
    Statement,
    StreamState,
)
from humanoid_viz.state.urdf import parse_urdf

LOG = logging.getLogger(__name__)

# [s] that the outcome of a click stays on the page.
ANSWER_SHOWN = 15.0


@dataclass(slots=True)
class Description:
    """The latest robot description, or its error."""

    urdf: str | None = None
    model: RobotModel | None = None
    error: str = ""

    @classmethod
    def read(cls, urdf: str) -> Self:
        """Read `urdf`. Never raises: the page shows the error."""
        try:
            return cls(urdf, parse_urdf(urdf))
        except ConfigError as error:
            LOG.error("%s", error)
            return cls(urdf, error=str(error))

    @property
    def moving_joints(self) -> tuple[str, ...]:
        """Names of the joints that have a position."""
        return () if self.model is None else self.model.moving_joints


class LatestMessages:
    """The latest message of every topic. Times are seconds of one monotonic clock."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._states = JointStream()  # position, velocity, effort
        self._commands = JointStream()  # position, stiffness, damping
        self._statement: Statement | None = None
        self._statements = Arrivals()
        self._standby: StandbyProgress | None = None
        self._safety = SafetyReports()
        self._outdated: set[str] = set()  # safety sources silent since the connection was lost
        self._description = Description()
        self._unknown: set[str] = set()  # joints that the log has named
        self._answer: tuple[float, Answer] | None = None

    def put_joint_states(
        self, names: Sequence[str], columns: Sequence[Sequence[float]], times: Iterable[float]
    ) -> None:
        """Put joint states: position [rad], velocity [rad/s] and effort [Nm]."""
        with self._lock:
            self._states.put(names, columns, times)

    def put_joint_commands(
        self, names: Sequence[str], columns: Sequence[Sequence[float]], times: Iterable[float]
    ) -> None:
        """Put joint commands: position [rad], stiffness [Nm/rad] and damping [Nm*s/rad]."""
        with self._lock:
            self._commands.put(names, columns, times)

    def put_statement(self, statement: Statement, time: float) -> None:
        """Put a statement of the mode manager, which arrived at `time` [s]."""
        with self._lock:
            before = self._statement
            if before is not None and before.mode != statement.mode:
                self._standby = None  # the progress belongs to an earlier STANDBY
            self._statement = statement
            self._statements.add([time])

    def put_standby(self, progress: StandbyProgress) -> None:
        """Put the progress of the standby controller."""
        with self._lock:
            self._standby = progress

    def put_safety(self, report: SafetyReport) -> None:
        """Put a report of a safety source."""
        with self._lock:
            self._outdated.discard(self._safety.put(report))

    def put_answer(self, text: str, *, refused: bool, time: float) -> None:
        """Put the outcome of the operator's last click, at `time` [s]."""
        with self._lock:
            self._answer = (time, Answer(text, refused))

    def put_description(self, urdf: str) -> None:
        """Put a robot description; with a malformed one no robot is shown."""
        with self._lock:
            if urdf != self._description.urdf:
                self._description = Description.read(urdf)
                self._unknown.clear()

    def snapshot(self, now: float) -> Snapshot:
        """Return the state at `now` [s]. Logs joints that the description lacks, once."""
        with self._lock:
            self._log_unknown_joints()
            states, statements = self._states.arrivals, self._statements
            flow = states.flow(now)
            if flow is StreamState.LOST:
                self._outdated.update(report.source for report in self._safety)
            return Snapshot(
                connection=Connection(flow, states.age(now), states.rate(now)),
                mode=ModeInForce(statements.flow(now), self._statement, statements.age(now)),
                standby=self._standby_in_force(now),
                safety=tuple(
                    SafetyRow(report, report.source in self._outdated) for report in self._safety
                ),
                joints=self._joint_rows(now),
                model=self._description.model,
                description_error=self._description.error,
                unknown_joints=self._unknown_joints(),
                answer=self._recent_answer(now),
            )

    def _unknown_joints(self) -> tuple[str, ...]:
        """Return joints that are in the joint states and not in the description."""
        if self._description.model is None:
            return ()
        known = self._description.moving_joints
        return tuple(name for name in self._states if name not in known)

    def _log_unknown_joints(self) -> None:
        new = [name for name in self._unknown_joints() if name not in self._unknown]
        if new:
            self._unknown.update(new)
            LOG.warning("joint states name joints the robot description lacks: %s", ", ".join(new))

    def _standby_in_force(self, now: float) -> StandbyProgress | None:
        believed = self._statements.flow(now) is StreamState.FLOWING
        if not believed or self._statement is None or self._statement.mode != Mode.STANDBY:
            return None
        return self._standby

    def _joint_rows(self, now: float) -> tuple[JointRow, ...]:
        """Return joints as the joint states list them, then the others of the description."""
        commanded = self._commands.arrivals.flow(now) is StreamState.FLOWING
        described = self._description.moving_joints
        names = [*self._states, *(name for name in described if name not in self._states)]
        return tuple(
            JointRow(name, *self._states[name], *(self._commands[name] if commanded else UNKNOWN))
            for name in names
        )

    def _recent_answer(self, now: float) -> Answer | None:
        if self._answer is None or now - self._answer[0] > ANSWER_SHOWN:
            return None
        return self._answer[1]
