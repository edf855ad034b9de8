"""The loop's health as diagnostic_msgs."""

from __future__ import annotations

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

from humanoid_control_common.safety import SafetyLevel, SafetyReport
from humanoid_controller_manager.limits import Limited, LimitStage
from humanoid_controller_manager.runner import LoopRunner

_LEVEL_OF = {
    SafetyLevel.OK: DiagnosticStatus.OK,
    SafetyLevel.WARNING: DiagnosticStatus.WARN,
    SafetyLevel.FAULT: DiagnosticStatus.ERROR,
    SafetyLevel.CRITICAL: DiagnosticStatus.ERROR,
}


def _status(
    name: str, level: bytes, message: str, values: dict[str, str], hardware_id: str = ""
) -> DiagnosticStatus:
    return DiagnosticStatus(
        level=level,
        name=name,
        message=message,
        hardware_id=hardware_id,
        values=[KeyValue(key=key, value=value) for key, value in values.items()],
    )


def timing_status(runner: LoopRunner, new_overruns: int) -> DiagnosticStatus:
    """Pace and execution time of the loop; WARN while ticks are being missed."""
    summary = runner.statistics.summary()
    values = {
        "ticks": str(summary.ticks),
        "overruns": str(summary.overruns),
        "period mean [ms]": f"{summary.period_mean * 1e3:.3f}",
        "period p99 [ms]": f"{summary.period_p99 * 1e3:.3f}",
        "period max [ms]": f"{summary.period_max * 1e3:.3f}",
        "execution median [us]": f"{summary.execution_median * 1e6:.1f}",
        "execution p99 [us]": f"{summary.execution_p99 * 1e6:.1f}",
        "execution max [us]": f"{summary.execution_max * 1e6:.1f}",
        "real-time": runner.realtime_state,
    }
    late = new_overruns > 0
    level = DiagnosticStatus.WARN if late else DiagnosticStatus.OK
    message = f"{new_overruns} overruns since the last report" if late else "on time"
    return _status("control loop: timing", level, message, values)


def limits_status(limits: LimitStage, names: tuple[str, ...]) -> DiagnosticStatus:
    """How often the limit stage limited which joint; the counts run from the start."""
    counts = limits.counts.copy()
    values = {
        f"{name} {kind.name.lower()}": str(counts[kind, i])
        for i, name in enumerate(names)
        for kind in Limited
        if counts[kind, i]
    }
    message = f"{int(counts.sum())} limited commands since the start"
    return _status("control loop: limits", DiagnosticStatus.OK, message, values)


def report_status(report: SafetyReport) -> DiagnosticStatus:
    """One hardware component's safety report."""
    values = {"flags": report.flags.name or str(int(report.flags))}
    return _status(
        f"hardware: {report.source}",
        _LEVEL_OF[report.level],
        report.message or report.level.name,
        values,
        report.source,
    )


def diagnostic_array(stamp: Time, statuses: list[DiagnosticStatus]) -> DiagnosticArray:
    """The array that goes out on /diagnostics."""
    array = DiagnosticArray(status=statuses)
    array.header.stamp = stamp
    return array
