"""One hardware component in the group: its rows, its copies of them, and what failed."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from math import inf, isfinite, isinf
from typing import Any, Final

from humanoid_control_common.errors import RobotError
from humanoid_control_common.joints import FloatArray, IndexArray
from humanoid_control_common.safety import SafetyLevel, SafetyReport
from humanoid_control_common.surface import JointCommand, JointState
from humanoid_controller_manager.duties import refuse_hidden
from humanoid_controller_manager.hardware import (
    HARDWARE_CONTRACT,
    HardwareComponent,
    HardwareInfo,
)

# A component is somebody else's code: it may call exit().
COMPONENT_ERRORS: Final = (Exception, SystemExit)

logger = logging.getLogger(__name__)


def block_named(info: HardwareInfo) -> str:
    """Where a component stands in the robot description, for messages."""
    return f"<ros2_control name='{info.name}'>: plugin '{info.plugin}'"


def finite_number(component: HardwareComponent, duty: str) -> float:
    """Value of a duty that is a number. Raises what it raises, ValueError if it isn't finite."""
    value = float(getattr(component, duty))
    if not isfinite(value):
        raise ValueError(f"found {value}, expected a finite number")
    return value


@dataclass(frozen=True, slots=True)
class Fault:
    """A component reported FAULT or worse, be it for one tick only."""

    number: int  # counts the faults since the start
    report: SafetyReport


@dataclass(slots=True)
class Member:
    """One component, the rows of the whole-robot arrays it serves, and its own copies of them.

    Raises ConfigError for a component whose class can't be relied on, see `duties`.
    """

    info: HardwareInfo
    component: HardwareComponent
    rows: IndexArray
    state: JointState
    command: JointCommand
    failures: dict[str, str] = field(default_factory=dict)  # by the call that failed last
    logged: set[str] = field(default_factory=set)  # failures that are in the log already
    effort_limit: FloatArray | None = None  # [Nm], as the component gave it last
    realized_stiffness: FloatArray | None = None  # [Nm/rad], as the component gave it last
    teleports: float = 0.0  # as the component counted them last
    report: SafetyReport = field(init=False)
    duties: frozenset[str] = field(init=False)  # those of HardwareComponent that it takes on

    def __post_init__(self) -> None:
        self.duties = HARDWARE_CONTRACT.taken_on(type(self.component), block_named(self.info))
        self.report = SafetyReport(self.info.name)

    def guarded(self, method: str, *arguments: object) -> Any:
        """Result of a method of the component, or None: what it raises becomes a failure."""
        try:
            result = getattr(self.component, method)(*arguments)
        except COMPONENT_ERRORS as error:
            self._note_failure(method, error)
            return None
        if self.failures:
            self.failures.pop(method, None)
        return result

    def number(self, duty: str, otherwise: float) -> float:
        """Value of a duty that is a number; `otherwise` if it gives none, which is a failure."""
        try:
            value = finite_number(self.component, duty)
        except COMPONENT_ERRORS as error:
            self._note_failure(duty, error)
            return otherwise
        if self.failures:
            self.failures.pop(duty, None)
        return value

    def _note_failure(self, method: str, error: BaseException) -> None:
        """A mistake in the component's code is told by its type, and once with its traceback."""
        mistake = not isinstance(error, RobotError)
        said = f"{type(error).__name__}: {error}" if mistake else str(error)
        self.failures[method] = f"{method} failed: {said}"
        kind = f"{method} failed by {type(error).__name__}"
        if mistake and kind not in self.logged:
            self.logged.add(kind)
            logger.error("%s: %s", self.info.name, self.failures[method], exc_info=error)

    def configure(self) -> None:
        """Configure the component. Raises ConfigError."""
        self.component.on_configure(self.info)
        refuse_hidden(HARDWARE_CONTRACT, self.component, block_named(self.info))

    def told_of_publication(self, published: float, measured: float) -> None:
        """Tell the component; by the publisher's thread, which its mistake must not end."""
        try:
            self.component.joint_states_published(published, measured)
        except COMPONENT_ERRORS:
            if "joint_states_published" not in self.logged:
                self.logged.add("joint_states_published")
                logger.exception("%s: joint_states_published failed", self.info.name)

    def unwatched(self) -> list[str]:
        """Names of its joints that go on with their last command if this computer fails."""
        return [name for name, time in self.watchdogs().items() if isinf(time)]

    def watchdogs(self) -> dict[str, float]:
        """After how long [s] each joint lets go by itself; empty if there is no actuator.

        If it fails to tell, joints are taken to have none: nothing may depend on them.
        """
        names = [joint.name for joint in self.info.joints]
        try:
            times = self.component.watchdog_times()
            return {} if times is None else dict(zip(names, times.tolist(), strict=True))
        except COMPONENT_ERRORS as error:  # must not end the process that drives it
            logger.error("%s: watchdog_times failed: %r", self.info.name, error)
            return dict.fromkeys(names, inf)

    def refresh_report(self) -> bool:
        """Take the component's report, or a FAULT if a call failed. Whether it changed."""
        report = self.guarded("safety") or self.report
        if self.failures:
            message = "; ".join(self.failures.values())
            report = SafetyReport(self.info.name, SafetyLevel.FAULT, report.flags, message)
        if report is self.report or report == self.report:
            return False
        self.report = report
        return True
