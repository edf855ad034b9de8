"""One hardware component in the group: its rows, its copies of them, and what failed."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from math import inf, isinf
from typing import Any

from humanoid_control_common.joints import FloatArray, IndexArray
from humanoid_control_common.safety import SafetyLevel, SafetyReport
from humanoid_control_common.surface import JointCommand, JointState
from humanoid_controller_manager.hardware import (
    HardwareComponent,
    HardwareInfo,
    HasWatchdog,
    MindsTheLoop,
)

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Fault:
    """A component reported FAULT or worse, be it for one tick only."""

    number: int  # counts the faults since the start
    report: SafetyReport


@dataclass(slots=True)
class Member:
    """One component, the rows of the whole-robot arrays it serves, and its own copies of them."""

    info: HardwareInfo
    component: HardwareComponent
    rows: IndexArray
    state: JointState
    command: JointCommand
    failures: dict[str, str] = field(default_factory=dict)  # by the call that failed last
    effort_limit: FloatArray | None = None  # [Nm], as the component gave it last
    realized_stiffness: FloatArray | None = None  # [Nm/rad], as the component gave it last
    report: SafetyReport = field(init=False)

    def __post_init__(self) -> None:
        self.report = SafetyReport(self.info.name)

    def guarded(self, method: str, *arguments: object) -> Any:
        """Result of a method of the component, or None: what it raises becomes a failure."""
        try:
            result = getattr(self.component, method)(*arguments)
        except Exception as error:
            self.failures[method] = f"{method} failed: {error}"
            return None
        if self.failures:
            self.failures.pop(method, None)
        return result

    def loop_ended(self) -> None:
        """Tell the component, if it minds."""
        if isinstance(self.component, MindsTheLoop):
            self.guarded("loop_ended")

    def unwatched(self) -> list[str]:
        """Names of its joints that go on with their last command if this computer fails."""
        return [name for name, time in self.watchdogs().items() if isinf(time)]

    def watchdogs(self) -> dict[str, float]:
        """After how long [s] each joint lets go by itself; empty if the component has no say.

        If it fails to tell, joints are taken to have none: nothing may depend on them.
        """
        if not isinstance(self.component, HasWatchdog):
            return {}
        names = [joint.name for joint in self.info.joints]
        try:
            return dict(zip(names, self.component.watchdog_times().tolist(), strict=True))
        except Exception as error:  # its mistake must not end the process that drives it
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
