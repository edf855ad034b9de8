"""What helps is found by what the robot says, and by the words a user has seen."""

import pytest

from humanoid_bringup.preflight.findings import Level
from humanoid_control_cli.diagnosis_view import fixes
from humanoid_control_cli.doctor.decode import decode
from humanoid_control_cli.doctor.robot import judged
from humanoid_control_cli.folding import fold
from humanoid_control_cli.mode_status import ModeStatus
from humanoid_control_cli.remedies import TABLE
from humanoid_control_cli.remedies_page import BEGIN, END, with_tables
from humanoid_control_cli.robot.status import Status
from humanoid_control_common.diagnosis import Diagnosis, DiagnosisLevel
from humanoid_control_common.modes import Mode
from humanoid_control_common.remedies import Remedy
from humanoid_control_common.safety import SafetyFlag, SafetyLevel, SafetyReport


def test_no_symptom_stands_twice_and_every_row_says_what_to_do() -> None:
    assert len({remedy.symptom for remedy in TABLE}) == len(TABLE)
    assert all(remedy.meaning and remedy.fix for remedy in TABLE)


# What the parts of the stack say, word for word, and the row it must lead to.
@pytest.mark.parametrize(
    ("said", "symptom"),
    [
        ("j3: statusword 4616 (0x1208): fault, error 0x8500 position", "error 0x8500: position"),
        ("statusword 520 (0x0208): fault", "statusword 520 (0x0208)"),
        ("SAFEOP with error, AL status 0x001B (Sync manager watchdog)", "AL status 0x001B"),
        ("slave 2 (j2), slave 3 (j3): does not answer", "does not answer"),
        ("the working counter is too low: not every slave takes part", "the working counter"),
        ("bus-off on socketcan can2: is 1000000 bit/s the motors' bitrate", "BUS_OFF"),
        ("j2 (id 38): silent: motor off? reset by itself? cable?", "RX_TIMEOUT"),
        ("commands don't get out on socketcan can2", "TX_QUEUE_OVERRUN"),
        ("socketcan can2: the adapter's queue is full: are the motors powered?", "ENOBUFS"),
        (
            "j0 (id 22): sends more frames than one motor: do two motors have this id?",
            "INVALID_FRAME",
        ),
        ("j0 (id 5): over temperature, 140 \N{DEGREE SIGN}C", "TEMPERATURE_LIMIT"),
        ("MOTOR_FAULT j1 (id 6): undervoltage", "MOTOR_FAULT"),
        ("7 overruns since the last report", "overruns since the last report"),
        ("ROS side silent for 0.31 s", "ROS side silent"),
        ("remote_policy_controller took 31.0 ms (period 20.0 ms)", "a controller failed"),
        ("elbow moves at 9.1 rad/s (velocity safety limit 6 rad/s)", "velocity safety limit"),
        ("elbow does not follow: no motion is measured", "does not follow"),
        ("Fell to safety: emergency stop (gamepad); call clear_fault", "emergency stop"),
        ("heartbeat of operator_console ended (deadline 0.5 s)", "heartbeat ended"),
        ("no file: /x: No space left on device", "no file (black box)"),
        ("impedance manager silent for 0.42 s (deadline 0.3 s)", "the impedance manager is silent"),
    ],
)
def test_a_message_of_the_robot_leads_to_its_remedy(said: str, symptom: str) -> None:
    assert any(remedy.symptom.startswith(symptom) for remedy in fixes([said]))


@pytest.mark.parametrize(
    "said", ["", "on time", "OK", "0 overruns since the last report", "DAMPING"]
)
def test_what_is_well_needs_no_remedy(said: str) -> None:
    assert fixes([said]) == []


def test_each_remedy_is_given_once_however_often_its_symptom_is_seen() -> None:
    (remedy,) = fixes(["RX_TIMEOUT", "silent", "j2: silent: cable?", "RX_TIMEOUT"])
    assert remedy.symptom == "RX_TIMEOUT"


@pytest.mark.parametrize("word", ["ENOBUFS", "rx_timeout", "BUS_OFF", "SAFEOP"])
def test_a_word_of_a_message_is_explained(word: str) -> None:
    reading = decode(word, None)[0]
    assert word.lower() in reading.title.lower()
    assert [detail.split(":")[0] for detail in reading.details] == ["means", "do"]


def test_commands_are_not_broken_over_lines() -> None:
    text = fold(f"{'x' * 20} `hc clear-fault` and so on", 30)
    assert "`hc clear-fault`" in text
    assert max(map(len, text.splitlines())) <= 30


def test_a_page_gets_the_tables_between_its_marks_and_keeps_the_rest() -> None:
    page = f"before\n{BEGIN}\nold\n{END}\nafter\n"
    found = with_tables(page, {"Bus": [Remedy("a", "b", "c")]})
    assert "| a | b | c |" in found
    assert "old" not in found
    assert found.startswith("before\n")
    assert found.endswith(f"{END}\nafter\n")
    assert with_tables(found, {"Bus": [Remedy("a", "b", "c")]}) == found
    with pytest.raises(ValueError, match="lacks"):
        with_tables("no marks", {})


def robot_with(*diagnoses: Diagnosis, message: str = "") -> Status:
    return Status(
        statement=ModeStatus(Mode.DAMPING, "damping_controller", message, 7, 0),
        safety={"Side": SafetyReport("Side")},
        diagnoses={diagnosis.name: diagnosis for diagnosis in diagnoses},
    )


def test_the_doctor_finds_a_robot_that_is_well() -> None:
    (finding,) = judged(robot_with(Diagnosis("bus: Side")))
    assert (finding.level, finding.found) == (Level.OK, "DAMPING, all is well")


def test_the_doctor_says_what_is_wrong_with_a_robot_and_how_to_mend_it() -> None:
    said = "statusword 4616 (0x1208): fault, error 0xA000 EtherCAT communication error"
    status = robot_with(
        Diagnosis("joint: elbow", DiagnosisLevel.ERROR, said),
        Diagnosis("control loop: timing", DiagnosisLevel.WARN, "3 overruns since the last report"),
        message="Fell to safety: Side reported FAULT",
    )
    status.safety["CAN"] = SafetyReport("CAN", SafetyLevel.FAULT, SafetyFlag.RX_TIMEOUT, "silent")
    found = {finding.subject: finding for finding in judged(status)}
    assert [*found] == ["mode manager", "safety: CAN", "joint: elbow", "control loop: timing"]
    assert found["joint: elbow"].level is Level.BROKEN
    assert "/prime/joint_states flows" in found["joint: elbow"].remedy
    assert found["safety: CAN"].level is Level.BROKEN
    assert "Is it powered" in found["safety: CAN"].remedy
    assert found["control loop: timing"].level is Level.WARNING
    assert "hc clear-fault" in found["mode manager"].remedy


def test_the_doctor_shows_a_safety_report_with_its_diagnosis_once() -> None:
    said = "statusword 4616 (0x1208): fault"
    status = robot_with(Diagnosis("joint: elbow", DiagnosisLevel.ERROR, said, source="Side"))
    status.safety["Side"] = SafetyReport("Side", SafetyLevel.FAULT, SafetyFlag.MOTOR_FAULT, said)
    (finding,) = judged(status)
    assert finding.subject == "joint: elbow"


def test_the_doctor_does_not_let_a_smaller_trouble_of_a_component_hide_its_fault() -> None:
    small = Diagnosis("impedance: Side", DiagnosisLevel.WARN, "not confirmed", source="Side")
    status = robot_with(small)
    status.safety["Side"] = SafetyReport("Side", SafetyLevel.FAULT, message="read failed: oops")
    found = {finding.subject: finding.level for finding in judged(status)}
    assert found == {"safety: Side": Level.BROKEN, "impedance: Side": Level.WARNING}
