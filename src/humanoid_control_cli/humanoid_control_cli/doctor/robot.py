"""Check the robot that is up on this ROS domain, if any, by its own reports."""

from collections.abc import Iterable, Iterator
from typing import Final

from humanoid_bringup.preflight.findings import Finding, broken, ok, warning
from humanoid_control_cli.client import Client
from humanoid_control_cli.diagnosis_view import with_codes, wrong
from humanoid_control_cli.errors import NoRosError
from humanoid_control_cli.reason_codes import known
from humanoid_control_cli.robot.status import Status, codes_of, collect
from humanoid_control_common.errors import RobotError
from humanoid_control_common.rules.diagnosis import Diagnosis, DiagnosisLevel, level_of
from humanoid_control_common.rules.reason_codes import FELL_TO_SAFETY
from humanoid_control_common.rules.reasons import Reason
from humanoid_control_common.rules.safety import SafetyLevel, SafetyReport
from humanoid_recording.topics import JOINT_STATES

DISCOVERY: Final = 1.0  # [s] in which a control process on this machine is found
TIMEOUT: Final = 3.0  # [s] until each of its topics has had a message
ENVIRONMENT: Final = (
    "correct the variables of ROS and its middleware (`env | grep -E 'ROS|RMW|FAST'`); "
    "ROS_SECURITY_ENABLE needs keys, and a middleware with security: docs/access.md"
)
SHOW_ALL: Final = "`hc status --all` shows all values"


def robot() -> list[Finding]:
    """Return the faults of a robot that is up, or why none is found in this environment."""
    try:
        with Client(TIMEOUT) as client:
            seen = client.node.count_publishers
            if not client.wait(lambda: seen(JOINT_STATES), DISCOVERY):
                return []
            return judged(collect(client))
    except NoRosError as error:
        return [broken("ROS 2 start", error.reason, ENVIRONMENT)]
    except RobotError:  # a bad domain, or it has just ended: other checks report that
        return []


def judged(status: Status) -> list[Finding]:
    """Return a finding for each problem, or one that all is well."""
    details = wrong(status.diagnoses.values())
    known = {(diagnosis.source, diagnosis.level) for diagnosis in details}
    reports = [it for it in status.safety.values() if (it.source, level_of(it.level)) not in known]
    found = [*_mode(status), *_safety(reports), *map(_finding, details)]
    statement = status.statement
    mode = statement.mode.name if statement else "no mode manager"
    return found or [ok("robot", f"{mode}, all is well")]


def _mode(status: Status) -> Iterator[Finding]:
    if status.statement is not None and status.statement.reason:
        reason = status.statement.reason
        make = broken if FELL_TO_SAFETY in reason else warning  # latched, as in the diagnosis
        yield make("mode manager", with_codes(reason), _remedy(reason.codes))


def _safety(reports: Iterable[SafetyReport]) -> Iterator[Finding]:
    for report in reports:
        if report.level is not SafetyLevel.OK:
            make = broken if report.level >= SafetyLevel.FAULT else warning
            found = with_codes(Reason(report.message, report.codes))
            yield make(f"safety: {report.source}", found, _remedy(codes_of(report)))


def _finding(diagnosis: Diagnosis) -> Finding:
    make = broken if diagnosis.level is DiagnosisLevel.ERROR else warning
    found = with_codes(Reason(diagnosis.message, diagnosis.codes))
    return make(diagnosis.name, found, _remedy(diagnosis.codes))


def _remedy(codes: Iterable[str]) -> str:
    return "\n  ".join(code.remedy for code in known(codes)) or SHOW_ALL
