"""One hardware component of the group: its rows of the arrays, its copies, its failures."""

import logging
import struct
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from math import inf, isinf, pi
from typing import Any, Final

import numpy as np

from humanoid_control_common.errors import ConfigError, HardwareError, RobotError
from humanoid_control_common.robot.joints import FloatArray, IndexArray
from humanoid_control_common.robot.mit_interface import JointCommand, JointState
from humanoid_control_common.rules.diagnosis import Diagnosis
from humanoid_control_common.rules.reasons import ReasonedError
from humanoid_control_common.rules.safety import SafetyLevel, SafetyReport
from humanoid_controller_manager.hardware import result_checks
from humanoid_controller_manager.hardware_component import (
    HARDWARE_CONTRACT,
    CapabilityArray,
    HardwareComponent,
    HardwareInfo,
)
from humanoid_controller_manager.plugin_texts import PLUGIN_ERRORS, repr_of, told
from humanoid_controller_manager.reason_codes import COMPONENT_FAILED, JOINT_BEYOND_STOP

logger = logging.getLogger(__name__)

# [rad] beyond a limit: no stop yields so much, and no stiff mode begins there (ours).
FAR_OUTSIDE: Final = pi / 2.0
_NOTHING: Final = object()  # marks a duty without a good result so far


def block_named(info: HardwareInfo) -> str:
    """Return the place of a component in the robot description, for messages."""
    return f"{info.place}: plugin '{info.plugin}'"


@dataclass(frozen=True, slots=True)
class Fault:
    """A report of FAULT or worse, even if it lasted for one tick only."""

    number: int  # counts the faults since the start
    report: SafetyReport


@dataclass(slots=True)
class Member:
    """One component, the rows of the whole-robot arrays it serves, and its own copies of them.

    Raises ConfigError for a component whose class breaks the contract, see `duties`.
    """

    info: HardwareInfo
    component: HardwareComponent
    rows: IndexArray
    state: JointState
    command: JointCommand
    failures: dict[str, str] = field(default_factory=dict)  # by duty, until its next success
    logged: set[str] = field(default_factory=set)  # kinds of failures logged before
    effort_limit: FloatArray | None = None  # [Nm], in use by the loop
    realized_stiffness: FloatArray | None = None  # [Nm/rad], in use by the loop
    teleports: float = 0.0  # the component's latest count
    counters: tuple[str, ...] = ()  # names of `bus_counts`, once configured
    report: SafetyReport = field(init=False)
    duties: frozenset[str] = field(init=False)  # of HardwareComponent that its class overrides
    checks: result_checks.ResultChecks = field(init=False)
    _check_of: Mapping[str, Callable[[Any], Any]] = field(init=False)  # by duty, see `result_of`
    _good: dict[str, Any] = field(default_factory=dict)  # latest correct result, by duty

    def __post_init__(self) -> None:
        self.duties = HARDWARE_CONTRACT.taken_on(type(self.component), block_named(self.info))
        self.report = SafetyReport(self.info.name)
        self.checks = result_checks.ResultChecks(
            self.info.name, len(self.info.joints), 1.0 / self.info.update_rate
        )
        self._check_of = {
            "effort_limit": self.checks.effort_limit,
            "realized_stiffness": self.checks.realized_stiffness,
            "tick_correction": self.checks.tick_correction,
            "impedance_confirmed": result_checks.impedance_confirmed,
            "safety": self.checks.safety,
        }

    def call(self, method: str, *arguments: object) -> None:
        """Call a method of the component; its error becomes a failure."""
        try:
            getattr(self.component, method)(*arguments)
        except PLUGIN_ERRORS as error:
            self._note_failure(method, error)
            return
        if self.failures:
            self.failures.pop(method, None)

    def result_of(self, duty: str, *arguments: object) -> Any:
        """Return the checked result of a duty.

        An error or a wrong result becomes a failure: then return the last good result, None if
        there was none.
        """
        good = self._good.get(duty, _NOTHING)
        try:
            result = getattr(self.component, duty)(*arguments)
            if result is not good:
                good = self._good[duty] = self._check_of[duty](result)
        except PLUGIN_ERRORS as error:
            self._note_failure(duty, error)
            return None if good is _NOTHING else good
        if self.failures:
            self.failures.pop(duty, None)
        return good

    def number(self, duty: str, otherwise: float, least: float) -> float:
        """Return the value of a duty that is a finite number, `least` or more.

        Another value, or an error, is a failure: then return `otherwise`.
        """
        try:
            value = result_checks.finite_number(self.component, duty, least)
        except PLUGIN_ERRORS as error:
            self._note_failure(duty, error)
            return otherwise
        if self.failures:
            self.failures.pop(duty, None)
        return value

    def _note_failure(self, method: str, error: BaseException) -> None:
        """Keep the failure; log an error that is not a RobotError once, with its traceback."""
        mistake = not isinstance(error, RobotError)
        self.failures[method] = f"{method} failed: {told(error)}"
        kind = f"{method} failed by {type(error).__name__}"
        if mistake and kind not in self.logged:
            self.logged.add(kind)
            logger.error("%s: %s", self.info.name, self.failures[method], exc_info=error)

    def configure(self) -> None:
        """Configure the component. Raises ConfigError."""
        where = block_named(self.info)
        try:
            self.component.on_configure(self.info)
        except RobotError:
            raise
        except PLUGIN_ERRORS as error:
            raise ConfigError(f"{where}: on_configure failed: {repr_of(error)}") from error
        HARDWARE_CONTRACT.refuse_hidden(self.component, where)
        try:
            self.counters = result_checks.counter_names(self.component.counter_names)
        except PLUGIN_ERRORS as error:
            raise ConfigError(f"{where}: counter_names: {error}") from error
        layout = struct.Struct(f"@{len(self.counters)}q")
        counts = result_checks.bus_counts(layout, len(self.counters))
        self._check_of = {**self._check_of, "bus_counts": counts}
        self._good["bus_counts"] = bytes(layout.size)

    def capabilities(self) -> CapabilityArray:
        """Return the checked capabilities of its joints, (5, n). Raises ConfigError."""
        try:
            return self.checks.capabilities(self.component.capabilities())
        except PLUGIN_ERRORS as error:
            raise ConfigError(f"{block_named(self.info)}: capabilities: {error}") from error

    def begin_activation(self) -> None:
        """Begin the activation. Raises HardwareError naming the component."""
        try:
            self.component.begin_activation()
        except PLUGIN_ERRORS as error:
            raise HardwareError(f"{self.info.name}: {error}") from error

    def activate(self) -> None:
        """Activate the component and take its first report. Raises HardwareError naming it."""
        try:
            self.component.on_activate(self.state)
            self.failures.clear()
            self.report = self._good["safety"] = self.checks.safety(self.component.safety())
        except PLUGIN_ERRORS as error:
            raise HardwareError(f"{self.info.name}: {error}") from error

    def confirms(self) -> bool:
        """Return whether it confirms the impedance now; an earlier confirmation does not count."""
        confirmed = self.result_of("impedance_confirmed")
        return bool(confirmed) and "impedance_confirmed" not in self.failures

    def tick_correction(self) -> float:
        """Return by how much [s] to delay the next tick; an earlier result does not count."""
        correction: float = self.result_of("tick_correction")
        return 0.0 if "tick_correction" in self.failures else correction

    def joint_states_published(self, published: float, measured: float) -> None:
        """Notify the component. Its errors must not end the publisher's thread."""
        try:
            self.component.joint_states_published(published, measured)
        except PLUGIN_ERRORS:
            if "joint_states_published" not in self.logged:
                self.logged.add("joint_states_published")
                logger.exception("%s: joint_states_published failed", self.info.name)

    def joints_without_watchdog(self) -> list[str]:
        """Return the joints that continue their last command if this computer fails."""
        return [name for name, time in self.watchdogs().items() if isinf(time)]

    def watchdogs(self) -> dict[str, float]:
        """Return the watchdog time [s] of each joint; empty if there is no actuator.

        A component that does not or cannot give it counts as having no watchdogs (infinite).
        """
        names = [joint.name for joint in self.info.joints]
        if "watchdog_times" not in self.duties:
            return dict.fromkeys(names, inf)
        try:
            times = self.checks.watchdog_times(self.component.watchdog_times())
        except PLUGIN_ERRORS as error:  # must not end the process that drives it
            self._log_once("watchdog_times", error)
            return dict.fromkeys(names, inf)
        return {} if times is None else dict(zip(names, times.tolist(), strict=True))

    def diagnose(self) -> tuple[Diagnosis, ...]:
        """Return the component's diagnoses. Raises what it raises; ResultError for wrong ones."""
        return result_checks.diagnose(self.component.diagnose())

    def exit_check(self) -> str:
        """Return the final state that the component has verified, in words."""
        try:
            return result_checks.exit_check(self.component.exit_check)
        except PLUGIN_ERRORS as error:
            self._log_once("exit_check", error)
            return "deactivated"

    def _log_once(self, duty: str, error: BaseException) -> None:
        if duty not in self.logged:
            self.logged.add(duty)
            logger.error("%s: %s failed: %r", self.info.name, duty, error)

    def refresh_report(self) -> bool:
        """Update `report`, a FAULT if a call failed; return whether it changed."""
        report = self.result_of("safety")
        if self.failures:
            message = "; ".join(self.failures.values())
            codes = (COMPONENT_FAILED.name, *report.codes)
            report = SafetyReport(self.info.name, SafetyLevel.FAULT, report.flags, message, codes)
        if report is self.report or report == self.report:
            return False
        self.report = report
        return True


def refuse_far_outside(members: Iterable[Member], state: JointState) -> None:
    """Raise ReasonedError if a joint is measured more than FAR_OUTSIDE beyond its limits.

    A stiff mode would drive it by a wrong angle, whatever its calibration file says.
    """
    found = []
    for member in members:
        limits, position = member.info.limits, state.position[member.rows]
        beyond = np.maximum(limits.lower - position, position - limits.upper)
        found += [
            f"{member.info.joints[i].name} is measured at {position[i]:.2f} rad "
            f"(limits {limits.lower[i]:.2f} to {limits.upper[i]:.2f})"
            for i in np.flatnonzero(beyond > FAR_OUTSIDE).tolist()
        ]
    if found:
        raise ReasonedError(
            JOINT_BEYOND_STOP,
            f"{', '.join(found)}: turn it by hand into its range, or calibrate it (`hc calibrate`)",
        )
