"""Remedies depend on codes, never on a text."""

import pytest

from humanoid_bringup.preflight.findings import Level
from humanoid_control_cli.doctor.decode import decode
from humanoid_control_cli.doctor.robot import judged
from humanoid_control_cli.folding import fold
from humanoid_control_cli.reason_codes import TABLES, known
from humanoid_control_cli.reason_codes_page import BEGIN, END, with_tables
from humanoid_control_cli.robot.status import Status
from humanoid_control_cli.statements import StampedStatement
from humanoid_control_common.rules.diagnosis import Diagnosis, DiagnosisLevel
from humanoid_control_common.rules.modes import Mode
from humanoid_control_common.rules.reason_codes import FELL_TO_SAFETY
from humanoid_control_common.rules.reasons import NO_REASON, CodeTable, Reason, ReasonCode
from humanoid_control_common.rules.safety import SafetyFlag, SafetyLevel, SafetyReport
from humanoid_controllers.reason_codes import REQUEST_OVERTAKEN


def test_no_code_is_defined_twice() -> None:
    names = [code.name for table in TABLES for code in table]
    assert len(set(names)) == len(names)


def test_each_remedy_is_given_once_in_the_order_of_its_first_code() -> None:
    names = ["RX_TIMEOUT", "OVERRUNS", "CODE_OF_A_PLUGIN", "RX_TIMEOUT"]
    assert [code.name for code in known(names)] == ["RX_TIMEOUT", "OVERRUNS"]


@pytest.mark.parametrize(
    ("word", "title"),
    [("BUS_OFF", "BUS_OFF"), ("rx_timeout", "RX_TIMEOUT"), ("safety-source-silent", None)],
)
def test_a_code_is_explained(word: str, title: str | None) -> None:
    (reading,) = decode(word, None)
    assert reading.title == (title or "SAFETY_SOURCE_SILENT")
    assert [detail.split(":")[0] for detail in reading.details] == ["means", "do"]


def test_part_of_a_name_finds_all_codes_that_contain_the_part() -> None:
    assert {"LOAD_REFUSED", "QUIT_REFUSED"} <= {it.title for it in decode("REFUSED", None)}


def test_commands_are_not_broken_over_lines() -> None:
    text = fold(f"{'x' * 20} `hc clear-fault` and so on", 30)
    assert "`hc clear-fault`" in text
    assert max(map(len, text.splitlines())) <= 30


def test_a_page_gets_the_tables_between_its_marks_and_keeps_the_rest() -> None:
    page = f"before\n{BEGIN}\nold\n{END}\nafter\n"
    table = CodeTable("Bus")
    table.add("A", "b", "c")
    found = with_tables(page, [table])
    assert "## Bus" in found
    assert "| `A` | b | c |" in found
    assert "old" not in found
    assert found.startswith("before\n")
    assert found.endswith(f"{END}\nafter\n")
    assert with_tables(found, [table]) == found
    with pytest.raises(ValueError, match="lacks"):
        with_tables("no marks", [])


def robot_with(*diagnoses: Diagnosis, reason: Reason = NO_REASON) -> Status:
    return Status(
        statement=StampedStatement(Mode.DAMPING, "damping_controller", reason, 7, 0),
        safety={"Side": SafetyReport("Side")},
        diagnoses={diagnosis.name: diagnosis for diagnosis in diagnoses},
    )


def test_the_doctor_finds_a_robot_that_is_well() -> None:
    (finding,) = judged(robot_with(Diagnosis("bus: Side")))
    assert (finding.level, finding.found) == (Level.OK, "DAMPING, all is well")


def test_the_doctor_reports_what_is_wrong_with_a_robot_and_the_remedy() -> None:
    status = robot_with(
        Diagnosis("joint: elbow", DiagnosisLevel.ERROR, "any", codes=("DRIVE_ERROR_A000",)),
        Diagnosis("control loop: timing", DiagnosisLevel.WARN, "any", codes=("OVERRUNS",)),
        reason=Reason.of(FELL_TO_SAFETY, "Fell to safety: Side reported FAULT"),
    )
    status.safety["CAN"] = SafetyReport("CAN", SafetyLevel.FAULT, SafetyFlag.RX_TIMEOUT, "any")
    found = {finding.subject: finding for finding in judged(status)}
    assert [*found] == ["mode manager", "safety: CAN", "joint: elbow", "control loop: timing"]
    assert found["joint: elbow"].level is Level.BROKEN
    assert "/prime/joint_states flows" in found["joint: elbow"].remedy
    assert found["safety: CAN"].level is Level.BROKEN
    assert "Is it powered" in found["safety: CAN"].remedy
    assert found["control loop: timing"].level is Level.WARNING
    assert "hc clear-fault" in found["mode manager"].remedy


@pytest.mark.parametrize(
    ("code", "level"), [(FELL_TO_SAFETY, Level.BROKEN), (REQUEST_OVERTAKEN, Level.WARNING)]
)
def test_a_latched_fall_is_broken_and_a_refusal_is_a_warning(
    code: ReasonCode, level: Level
) -> None:
    (finding,) = judged(robot_with(reason=Reason.of(code, "any")))
    assert (finding.subject, finding.level) == ("mode manager", level)


def test_the_doctor_reports_what_a_safety_report_and_a_diagnosis_share_once() -> None:
    message = "statusword 4616 (0x1208): fault"
    status = robot_with(Diagnosis("joint: elbow", DiagnosisLevel.ERROR, message, source="Side"))
    status.safety["Side"] = SafetyReport("Side", SafetyLevel.FAULT, SafetyFlag.MOTOR_FAULT, message)
    (finding,) = judged(status)
    assert finding.subject == "joint: elbow"


def test_the_doctor_shows_a_components_fault_before_its_smaller_problems() -> None:
    small = Diagnosis("impedance: Side", DiagnosisLevel.WARN, "not confirmed", source="Side")
    status = robot_with(small)
    status.safety["Side"] = SafetyReport("Side", SafetyLevel.FAULT, message="read failed: oops")
    found = {finding.subject: finding.level for finding in judged(status)}
    assert found == {"safety: Side": Level.BROKEN, "impedance: Side": Level.WARNING}
