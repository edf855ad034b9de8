"""Safety reports as ROS messages, in both directions."""

from builtin_interfaces.msg import Time
from humanoid_control_msgs.msg import SafetyStatus

from humanoid_control_common.rules.reason_codes import UNKNOWN_SAFETY_LEVEL
from humanoid_control_common.rules.safety import SafetyFlag, SafetyLevel, SafetyReport


def safety_message(report: SafetyReport, stamp: Time) -> SafetyStatus:
    """Return `report` as a message."""
    message = SafetyStatus(
        level=int(report.level),
        source=report.source,
        flags=int(report.flags),
        message=report.message,
        reason_codes=report.codes,
    )
    message.header.stamp = stamp
    return message


def safety_report(message: SafetyStatus) -> SafetyReport:
    """Return the report in `message`. An unknown level counts as CRITICAL."""
    level, text, codes = message.level, message.message, tuple(message.reason_codes)
    if level not in list(SafetyLevel):
        text = f"unknown safety level {level} ({text})"
        level = SafetyLevel.CRITICAL  # whatever it means, it is not known to be harmless
        codes = (UNKNOWN_SAFETY_LEVEL.name, *codes)
    flags = SafetyFlag(message.flags)
    return SafetyReport(message.source, SafetyLevel(level), flags, text, codes)
