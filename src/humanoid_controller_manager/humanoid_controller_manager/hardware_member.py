"""One hardware component in the group: its rows, its copies of them, and what failed."""

from __future__ import annotations

import logging
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import inf, isinf
from typing import Any, Final

from humanoid_control_common.diagnosis import Diagnosis
from humanoid_control_common.errors import ConfigError, RobotError
from humanoid_control_common.joints import FloatArray, IndexArray
from humanoid_control_common.safety import SafetyLevel, SafetyReport
from humanoid_control_common.surface import JointCommand, JointState
from humanoid_controller_manager import results
from humanoid_controller_manager.duties import refuse_hidden
from humanoid_controller_manager.hardware import (
    HARDWARE_CONTRACT,
    CapabilityArray,
    HardwareComponent,
    HardwareInfo,
)

# A component is somebody else's code: it may call exit().
COMPONENT_ERRORS: Final = (Exception, SystemExit)

logger = logging.getLogger(__name__)

_NOTHING: Final = object()  # stands for a result that there isn't


def block_named(info: HardwareInfo) -> str:
    """Where a component stands in the robot description, for messages."""
    return f"<ros2_control name='{info.name}'>: plugin '{info.plugin}'"


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
    effort_limit: FloatArray | None = None  # [Nm], as the loop has it
    realized_stiffness: FloatArray | None = None  # [Nm/rad], as the loop has it
    teleports: float = 0.0  # as the component counted them last
    counters: tuple[str, ...] = ()  # what `bus_counts` counts, once configured
    report: SafetyReport = field(init=False)
    duties: frozenset[str] = field(init=False)  # those of HardwareComponent that it takes on
    checks: results.Results = field(init=False)
    _taking: Mapping[str, Callable[[Any], Any]] = field(init=False)  # checks of what is asked
    _good: dict[str, Any] = field(default_factory=dict)  # what each gave last that was right

    def __post_init__(self) -> None:
        self.duties = HARDWARE_CONTRACT.taken_on(type(self.component), block_named(self.info))
        self.report = SafetyReport(self.info.name)
        self.checks = results.Results(len(self.info.joints), 1.0 / self.info.update_rate)
        self._taking = {
            "effort_limit": self.checks.effort_limit,
            "realized_stiffness": self.checks.realized_stiffness,
            "tick_correction": self.checks.tick_correction,
            "impedance_confirmed": results.impedance_confirmed,
            "safety": results.safety,
        }

    def guarded(self, method: str, *arguments: object) -> None:
        """Call a method of the component; what it raises becomes a failure."""
        try:
            getattr(self.component, method)(*arguments)
        except COMPONENT_ERRORS as error:
            self._note_failure(method, error)
            return
        if self.failures:
            self.failures.pop(method, None)

    def asked(self, duty: str, *arguments: object) -> Any:
        """Result of a duty as its contract says.

        What the component raises, or gives in place of it, becomes a failure: then the result is
        the last good one, None if there was none.
        """
        good = self._good.get(duty, _NOTHING)
        try:
            result = getattr(self.component, duty)(*arguments)
            if result is not good:
                good = self._good[duty] = self._taking[duty](result)
        except COMPONENT_ERRORS as error:
            self._note_failure(duty, error)
            return None if good is _NOTHING else good
        if self.failures:
            self.failures.pop(duty, None)
        return good

    def number(self, duty: str, otherwise: float, least: float) -> float:
        """Value of a duty that is a number; `otherwise` if it gives none, which is a failure.

        So is one below `least`.
        """
        try:
            value = results.finite_number(self.component, duty, least)
        except COMPONENT_ERRORS as error:
            self._note_failure(duty, error)
            return otherwise
        if self.failures:
            self.failures.pop(duty, None)
        return value

    def _note_failure(self, method: str, error: BaseException) -> None:
        """A mistake in the component's code is told by its type, and once with its traceback."""
        mistake = not isinstance(error, RobotError)
        words = results.words_of(error)
        said = f"{type(error).__name__}: {words}" if mistake else words
        self.failures[method] = f"{method} failed: {said}"
        kind = f"{method} failed by {type(error).__name__}"
        if mistake and kind not in self.logged:
            self.logged.add(kind)
            logger.error("%s: %s", self.info.name, self.failures[method], exc_info=error)

    def configure(self) -> None:
        """Configure the component. Raises ConfigError."""
        where = block_named(self.info)
        self.component.on_configure(self.info)
        refuse_hidden(HARDWARE_CONTRACT, self.component, where)
        try:
            self.counters = results.counter_names(self.component.counter_names)
        except COMPONENT_ERRORS as error:
            raise ConfigError(f"{where}: counter_names: {error}") from error
        layout = struct.Struct(f"@{len(self.counters)}q")
        counts = results.bus_counts(layout, len(self.counters))
        self._taking = {**self._taking, "bus_counts": counts}
        self._good["bus_counts"] = bytes(layout.size)

    def capabilities(self) -> CapabilityArray:
        """How each command interface acts on each of its joints, (5, n). Raises ConfigError."""
        try:
            return self.checks.capabilities(self.component.capabilities())
        except COMPONENT_ERRORS as error:
            raise ConfigError(f"{block_named(self.info)}: capabilities: {error}") from error

    def activate(self) -> None:
        """Activate the component and take its first report. Raises what it raises."""
        self.component.on_activate(self.state)
        self.failures.clear()
        self.report = self._good["safety"] = results.safety(self.component.safety())

    def confirms(self) -> bool:
        """Whether it confirms the impedance now; an old confirmation is none."""
        confirmed = self.asked("impedance_confirmed")
        return bool(confirmed) and "impedance_confirmed" not in self.failures

    def tick_correction(self) -> float:
        """How much later [s] the next tick is to come; an old correction has been made."""
        correction: float = self.asked("tick_correction")
        return 0.0 if "tick_correction" in self.failures else correction

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
            times = self.checks.watchdog_times(self.component.watchdog_times())
        except COMPONENT_ERRORS as error:  # must not end the process that drives it
            self._log_once("watchdog_times", error)
            return dict.fromkeys(names, inf)
        return {} if times is None else dict(zip(names, times.tolist(), strict=True))

    def diagnose(self) -> tuple[Diagnosis, ...]:
        """What the component says of itself. Raises what it raises, ResultError for nonsense."""
        return results.diagnose(self.component.diagnose())

    def exit_check(self) -> str:
        """What its ordered exit has made sure of, in words; no more than it could tell."""
        try:
            return results.exit_check(self.component.exit_check)
        except COMPONENT_ERRORS as error:
            self._log_once("exit_check", error)
            return "deactivated"

    def _log_once(self, duty: str, error: BaseException) -> None:
        if duty not in self.logged:
            self.logged.add(duty)
            logger.error("%s: %s failed: %r", self.info.name, duty, error)

    def refresh_report(self) -> bool:
        """Take the component's report, or a FAULT if a call failed. Whether it changed."""
        report = self.asked("safety")
        if self.failures:
            message = "; ".join(self.failures.values())
            report = SafetyReport(self.info.name, SafetyLevel.FAULT, report.flags, message)
        if report is self.report or report == self.report:
            return False
        self.report = report
        return True
