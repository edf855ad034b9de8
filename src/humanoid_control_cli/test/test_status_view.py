from humanoid_control_msgs.msg import TrajectoryState
from rich.console import Console

from humanoid_control_cli.motion.states import WORDS, in_words
from humanoid_control_cli.robot.message_rate import Stream
from humanoid_control_cli.robot.status import REMOTE, TIMING, JointRow, Status
from humanoid_control_cli.robot.status_view import render
from humanoid_control_cli.statements import StampedStatement
from humanoid_control_common.rules.diagnosis import Diagnosis, DiagnosisLevel
from humanoid_control_common.rules.modes import Mode
from humanoid_control_common.rules.reason_codes import REFUSED
from humanoid_control_common.rules.reasons import Reason
from humanoid_control_common.rules.safety import SafetyFlag, SafetyLevel, SafetyReport

REFUSED_LOAD = Reason.of(REFUSED["LOAD"], "Rejected LOAD: no")
VALUES = {
    "ticks": "4000",
    "overruns": "2",
    "period mean [ms]": "5.001",
    "period p99 [ms]": "5.210",
    "period max [ms]": "9.876",
    "execution median [us]": "31.0",
    "execution p99 [us]": "55.5",
    "execution max [us]": "99.9",
    "real-time": "granted",
}


def text_of(status: Status, *, everything: bool = False) -> str:
    console = Console(width=80, markup=False, highlight=False)
    with console.capture() as capture:
        console.print(render(status, everything=everything))
    return capture.get()


def full_status() -> Status:
    stream = Stream()
    for i in range(201):
        stream.arrive(i * 0.005)
    bus = SafetyReport("PrimeSitoCAN", SafetyLevel.FAULT, SafetyFlag.BUS_OFF, "can2 [off]")
    return Status(
        statement=StampedStatement(Mode.DAMPING, "damping_controller", REFUSED_LOAD, 7, 0),
        joints=[JointRow(f"joint_{i:02}", 0.1 * i, -1.5, 2.25) for i in range(14)],
        joint_states=stream,
        joint_states_age=0.003,
        safety={"PrimeSitoCAN": bus},
        diagnoses={TIMING: Diagnosis(TIMING, DiagnosisLevel.OK, "on time", VALUES)},
    )


def test_safety_reports_have_the_same_order_however_they_arrive() -> None:
    texts = []
    for names in (("ring", "bus"), ("bus", "ring")):
        status = full_status()
        status.safety = {name: SafetyReport(name) for name in names}
        texts.append(text_of(status))
    assert texts[0] == texts[1]


def test_status_view_shows_all_parts_on_one_screen() -> None:
    text = text_of(full_status())
    for part in (
        "DAMPING",
        "damping_controller, switch 7",
        "Rejected LOAD: no",
        "200.0 Hz, the latest 3 ms old",
        "FAULT BUS_OFF can2 [off]",
        "2 overruns in 4000 ticks",
        "mean 5.001  p99 5.210  max 9.876",
        "median 31.0  p99 55.5  max 99.9",
        "period [ms]",
        "granted",
        "position [rad]",
    ):
        assert part in text
    (row,) = (line for line in text.splitlines() if "joint_13" in line)
    assert row.split() == ["joint_13", "+1.300", "-1.500", "+2.250"]
    assert len(text.split("what to do")[0].splitlines()) <= 40


def test_state_and_latest_refusal_of_remote_are_one_row() -> None:
    status = full_status()
    message = "follows commands; 3 refused, the latest (number 37): joints unknown: knee"
    values = {"received": "40", "refused": "3", "latest refusal [s ago]": "2.5"}
    status.diagnoses[REMOTE] = Diagnosis(REMOTE, DiagnosisLevel.OK, message, values)
    lines = text_of(status).splitlines()
    (row,) = (i for i, line in enumerate(lines) if line.startswith("remote "))
    assert " ".join(" ".join(lines[row : row + 2]).split()) == f"remote {message} (2.5 s ago)"
    status.diagnoses[REMOTE] = Diagnosis(REMOTE, message="not in charge")
    (line,) = (it for it in text_of(status).splitlines() if it.startswith("remote "))
    assert line.split() == ["remote", "not", "in", "charge"]


def test_a_single_overrun_is_written_in_the_singular() -> None:
    status = full_status()
    timing = Diagnosis(TIMING, DiagnosisLevel.OK, "on time", VALUES | {"overruns": "1"})
    status.diagnoses[TIMING] = timing
    assert "; 1 overrun in 4000 ticks" in text_of(status)


def test_joints_without_problems_are_shown_only_on_request() -> None:
    status = full_status()
    name = "joint: joint_03"
    status.diagnoses[name] = Diagnosis(
        name, message="answers", values={"latest frame [ms ago]": "3"}
    )
    assert name not in text_of(status)
    (line,) = (it for it in text_of(status, everything=True).splitlines() if "latest frame" in it)
    assert line.split() == ["latest", "frame", "[ms", "ago]", "3"]


def test_a_joint_that_is_not_well_is_shown_with_what_to_do() -> None:
    status = full_status()
    name = "joint: joint_03"
    message, codes = "statusword 4616 (0x1208): fault", ("DRIVE_ERROR_8500", "DRIVE_FAULT")
    status.diagnoses[name] = Diagnosis(name, DiagnosisLevel.ERROR, message, codes=codes)
    text = text_of(status)
    assert f"ERROR {name}: statusword 4616" in text
    assert "[DRIVE_ERROR_8500 DRIVE_FAULT]" in " ".join(text.split())
    remedy = text.split("what to do")[1]
    assert "position error exceeds limit" in remedy
    assert "LOAD_REFUSED" not in remedy, "its own remedy is to read the codes after it"
    assert "Clear the joint's way" in remedy
    assert "BUS_OFF" in remedy  # of the safety report
    assert max(map(len, text.splitlines())) <= 80


def test_messages_that_did_not_arrive_are_shown_as_missing() -> None:
    text = text_of(Status(joints=full_status().joints))
    assert "not stated" in text
    assert "joint states  none" in text
    assert "loop          none" in text


def test_a_status_is_complete_when_all_messages_have_arrived() -> None:
    status = full_status()
    assert status.complete
    status.diagnoses.clear()
    assert not status.complete


def test_single_joint_state_gives_no_rate_and_no_complete_status() -> None:
    status = full_status()
    status.joint_states = Stream()
    status.joint_states.arrive(1.0)
    assert status.joint_states.rate == 0.0
    assert not status.complete


def test_state_of_a_trajectory_controller_is_one_row() -> None:
    status = full_status()
    state = TrajectoryState(goal=3, status=TrajectoryState.ACTIVE, time=1.25, duration=4.0)
    status.motions["left_arm"] = state
    (line,) = (it for it in text_of(status).splitlines() if it.startswith("motion "))
    assert line.split(maxsplit=1)[1].strip() == "left_arm: goal 3: moves, 1.2 of 4.0 s"
    links = "a and b are 20 mm apart"
    state = TrajectoryState(goal=3, status=TrajectoryState.LINKS_TOO_NEAR, message=links)
    assert in_words(state) == f"goal 3: stopped before links touch: {links}"
    state = TrajectoryState(status=TrajectoryState.HOLDING, refusal="unknown joint knee")
    assert in_words(state) == "no goal; refused since: unknown joint knee"


def test_every_status_of_a_motion_has_a_text() -> None:
    names = [name for name in dir(TrajectoryState) if name.isupper() and name != "SLOT_TYPES"]
    assert {getattr(TrajectoryState, name) for name in names} == set(WORDS)
