"""`hc calibrate` with a process that has the interfaces of a robot."""

from __future__ import annotations

import io
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml
from ament_index_python.packages import get_package_share_directory
from rich.console import Console
from rich.live import Live
from test_support.terminal import Terminal
from typer.testing import CliRunner

from humanoid_bringup.calibration.formulas import Interval, JointCalibration
from humanoid_bringup.calibration.results import joint_result
from humanoid_bringup.calibration.session import JointRow
from humanoid_bringup.robot_package import find_robot
from humanoid_control_cli.app import app
from humanoid_control_cli.calibrate.screen import rendered, result_lines
from humanoid_control_cli.client import Client
from prime_description import expand

if TYPE_CHECKING:
    from src.humanoid_control_cli.test.conftest import Run, Starter

HC = "import sys; from humanoid_control_cli.main import main; sys.exit(main())"
FAKE = Path(__file__).with_name("fake_prime.py")
INSTALLED = Path(get_package_share_directory("humanoid_bringup_prime"))
TRUE_DIRECTION, TRUE_OFFSET = -1, 0.3  # as in FAKE
FACTORY = "{(9090, 1): 1000, (9089, 1): 270, (9089, 2): 20, (9090, 3): 16384, (9091, 0): 0}"
LIMP = "{(9090, 1): 0, (9089, 1): 270, (9089, 2): 0, (9090, 3): 0, (9091, 0): 1}"


@pytest.fixture(scope="module")
def description() -> str:
    """URDF of the robot; FILE is its calibration file."""
    return expand({"calibration_file": "FILE", "control_frequency": "50"})


def write_calibration(path: Path) -> Path:
    """Write a calibration file with the right directions and wrong offsets."""
    entries = yaml.safe_load((INSTALLED / "config/prime_calibration.yaml").read_text())
    for i, entry in enumerate(entries.values()):
        entry.update(direction=TRUE_DIRECTION, homing_offset=round(0.1 * i - 0.7, 1))
    path.write_text(yaml.safe_dump(entries, sort_keys=False))
    return path


def wait_until(condition: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + 60.0  # [s]; a dead-man's switch
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.01)


class Fake:
    """A running robot, with the output that a test has read."""

    def __init__(self, run, used: Path) -> None:
        self.run, self.used = run, used
        self._before = len(run.lines)

    @property
    def gates(self) -> list[str]:
        """Return the drives that became limp, and closed gates, since the begin of the test."""
        return [line for line in self.run.lines[self._before :] if line.startswith("gate")]

    def wait_for(self, gate: str) -> None:
        wait_until(lambda: gate in self.gates, gate)


@pytest.fixture
def used(tmp_path: Path) -> Path:
    """The calibration file of the robot of one test."""
    return write_calibration(tmp_path / "prime_calibration.yaml")


@pytest.fixture
def urdf(description: str, used: Path) -> Path:
    path = used.with_name("prime.urdf")
    path.write_text(description.replace("FILE", str(used)))
    return path


@pytest.fixture
def own_prime(start: Starter, urdf: Path, used: Path) -> Callable[..., Fake]:
    """Start a robot that a test may change; return it when it is ready."""

    def begin(*options: str) -> Fake:
        run = start(sys.executable, str(FAKE), str(urdf), *options)
        run.wait_for("serving")
        return Fake(run, used)

    return begin


@pytest.fixture(scope="module")
def robot(
    start_once: Starter, description: str, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Run, Path]:
    used = write_calibration(tmp_path_factory.mktemp("robot") / "prime_calibration.yaml")
    urdf = used.with_name("prime.urdf")
    urdf.write_text(description.replace("FILE", str(used)))
    run = start_once(sys.executable, str(FAKE), str(urdf))
    run.wait_for("serving")
    return run, used


@pytest.fixture
def prime(robot: tuple[Run, Path]) -> Fake:
    """The robot that most tests share; its file must not change, or the robot would refuse it."""
    return Fake(*robot)


@pytest.fixture
def calibrate(start_once: Starter) -> Callable[..., Run]:
    """Start `hc calibrate` for the shared robot."""
    return partial(start_once.hc, "calibrate")


def entries(path: Path) -> dict:
    return yaml.safe_load(path.read_text())


def test_the_chosen_joints_get_their_true_offsets_and_the_others_keep_theirs(
    prime, calibrate, tmp_path
) -> None:
    before, output = entries(prime.used), tmp_path / "new.yaml"
    run = calibrate(
        *("--joint", "left_elbow_pitch", "--joint", "left_wrist_roll"),
        *("--joint", "right_wrist_yaw", "--duration", "1.5"),
        *("--output", str(output), "--flip", "left_wrist_roll", "--flip", "left_wrist_yaw"),
    )
    assert run.finish() == 0, run.text
    swept = {"left_elbow_pitch", "left_wrist_roll", "right_wrist_yaw"}
    found = entries(output)
    assert list(found) == list(before)
    for joint, entry in found.items():
        flips = -1 if joint in {"left_wrist_roll", "left_wrist_yaw"} else 1
        assert (entry["id"], entry["direction"]) == (before[joint]["id"], flips * TRUE_DIRECTION)
        # Both flipped joints have the same range in either direction: the offset stays.
        expected = TRUE_OFFSET if joint in swept else before[joint]["homing_offset"]
        assert entry["homing_offset"] == pytest.approx(expected, abs=1e-6), joint
    assert run.lines[-1] == f"written to {output}; start the robot again to use it"
    assert "left_elbow_pitch: move it to both stops" in run.lines
    result = "right_wrist_yaw: direction -1, homing offset +0.300000 rad (swept 5.000 of 5.000 rad)"
    assert result in run.lines
    # One after the other; each drive is restored before the next.
    assert prime.gates == [
        f"gate 3 1 {LIMP}", f"gate 3 0 {FACTORY}", f"gate 9 1 {LIMP}", f"gate 9 0 {FACTORY}"
    ]  # fmt: skip


def test_the_file_in_use_is_replaced_with_a_backup(own_prime, hc, used) -> None:
    before = entries(used)
    own_prime()
    run = hc("calibrate", "--joint", "left_wrist_roll", "--duration", "1.5")
    assert run.finish() == 0, run.text
    (backup,) = used.parent.glob("*.bak")
    assert entries(backup) == before
    assert entries(used)["left_wrist_roll"]["homing_offset"] == pytest.approx(TRUE_OFFSET)
    assert run.lines[-1] == (
        f"written to {used}, the old file is {backup}; start the robot again to use it"
    )
    again = hc("calibrate", "--joint", "left_wrist_roll", "--duration", "1")
    assert again.finish() == 1
    assert again.lines == [
        f"hc: {used} has changed since the robot started, so the robot uses another version: "
        "start the robot again"
    ]


def test_a_file_that_is_changed_meanwhile_is_not_written_over(own_prime, hc, used) -> None:
    own_prime()
    copy = Path(shutil.copy(used, used.with_name("flipped.yaml")))
    assert flip(copy, "--flip", "left_elbow_pitch").exit_code == 0
    run = hc("calibrate", "--joint", "left_wrist_roll", "--duration", "1.5")
    run.wait_for("move it to both stops")
    copy.replace(used)  # at once: the calibration has 1.5 s
    flipped = used.read_text()
    assert run.finish() == 1
    assert f"hc: {used}: another program has changed left_elbow_pitch meanwhile" in run.text
    assert "# swept 1.400 of" in run.text  # a line of the file: the result is not lost
    assert used.read_text() == flipped


def test_a_file_that_is_wrong_in_the_end_does_not_lose_the_result(own_prime, hc, used) -> None:
    own_prime()
    run = hc("calibrate", "--joint", "left_wrist_roll", "--duration", "1.5")
    run.wait_for("move it to both stops")
    used.write_text("left_wrist_roll: {id: 22")  # another program is writing it
    assert run.finish() == 1
    assert "hc: nothing was written; the calibration so far:" in run.lines
    assert "# swept 1.400 of" in run.text
    assert str(used) in run.lines[-1]


def test_an_abort_restores_the_limp_joint_and_writes_nothing(prime, calibrate) -> None:
    before = prime.used.read_text()
    run = calibrate("--joint", "left_elbow_pitch", "--duration", "1000")
    run.wait_for("move it to both stops")
    second = calibrate("--joint", "left_wrist_roll", "--duration", "1")
    assert second.finish() == 1
    assert "hc: a calibration process is already running on ROS domain" in second.text
    run.send(signal.SIGTERM)
    run.send(signal.SIGTERM)  # a second signal has no effect
    assert run.finish() == 128 + signal.SIGTERM
    assert run.lines[-1] == "hc: aborted, nothing was written"
    prime.wait_for(f"gate 3 0 {FACTORY}")
    assert prime.used.read_text() == before
    assert list(prime.used.parent.glob("*.bak")) == []


def test_an_abort_before_the_robot_is_found_is_an_abort(
    hc_here, start: Starter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C comes when the search for the robot begins."""
    wait = Client.wait

    def interrupted(self: Client, condition: Callable[[], object], timeout: float) -> bool:
        os.kill(os.getpid(), signal.SIGINT)
        return wait(self, condition, timeout)

    monkeypatch.setattr(Client, "wait", interrupted)
    words = ("calibrate", "--joint", "left_elbow_pitch", "--duration", "1")
    code, lines = hc_here(*words, **start.environment)
    assert (code, lines) == (128 + signal.SIGINT, ["hc: aborted, nothing was written"])


def test_a_robot_that_ends_while_a_joint_is_limp_is_reported_with_a_remedy(own_prime, hc) -> None:
    fake = own_prime()
    run = hc("calibrate", "--joint", "left_elbow_pitch", "--duration", "1000")
    run.wait_for("move it to both stops")
    fake.run.process.kill()
    run.send(signal.SIGINT)
    assert run.finish() == 1
    assert run.lines[-1].startswith("hc: left_elbow_pitch may still be limp (waiting for ")
    assert "`hc mode quit`" in run.lines[-1]


def test_a_robot_that_ends_does_not_lose_the_sweeps_of_the_joints_before(own_prime, hc) -> None:
    fake = own_prime()
    words = ("--joint", "left_wrist_roll", "--joint", "left_elbow_pitch", "--duration", "1.5")
    run = hc("calibrate", *words)
    run.wait_for("left_elbow_pitch: move it to both stops")
    fake.run.process.kill()
    assert run.finish() == 1
    assert "hc: nothing was written; the calibration so far:" in run.lines
    (swept,) = [line for line in run.lines if line.startswith("left_wrist_roll: ")][1:]
    assert "# swept 1.400 of" in swept
    assert run.lines[-1].startswith("hc: left_elbow_pitch may still be limp (waiting for ")


def test_beside_an_impedance_manager_nothing_is_touched(own_prime, hc) -> None:
    fake = own_prime("manager")
    run = hc("calibrate", "--joint", "left_elbow_pitch", "--duration", "1")
    assert run.finish() == 1
    (line,) = run.lines
    assert line.startswith("hc: erob_impedance_manager is running and would overwrite")
    assert "`hc up real --calibrate`" in line
    assert fake.gates == []


def test_impedance_manager_that_starts_ends_the_calibration_with_the_joint_restored(
    own_prime, hc, used
) -> None:
    before = used.read_text()
    fake = own_prime("manager_later")
    run = hc("calibrate", "--joint", "left_elbow_pitch", "--duration", "1000")
    assert run.finish() == 1
    assert run.lines[-1].startswith("hc: erob_impedance_manager is running")
    fake.wait_for(f"gate 3 0 {FACTORY}")
    assert used.read_text() == before


@pytest.mark.parametrize("joint", ["left_wrist_roll", "left_elbow_pitch"])
def test_a_joint_is_not_to_be_moved_in_a_stiff_mode(own_prime, hc, joint: str) -> None:
    fake = own_prime("stiff")
    run = hc("calibrate", "--joint", joint, "--duration", "1", "--timeout", "1")
    assert run.finish() == 1
    (line,) = run.lines
    expected = (
        f"hc: {joint} does not become limp: STANDBY is in force: go to ZERO_TORQUE or DAMPING"
    )
    assert line == expected
    assert fake.gates == []


def test_wrong_options_are_reported_before_anything_is_changed(prime, calibrate, tmp_path) -> None:
    for options, message in (
        (("--joint", "left_knee"), "unknown joint left_knee; known: left_shoulder_pitch, "),
        (
            ("--joint", "left_elbow_pitch", "--output", str(tmp_path / "no" / "c.yaml")),
            "there is no folder",
        ),
    ):
        run = calibrate("--duration", "1", *options)
        assert run.finish() == 1
        (line,) = run.lines
        assert message in line
    assert prime.gates == []


def test_without_a_sweep_there_is_nothing_to_write(start, hc, used, urdf) -> None:
    """All loose joints rest."""
    text = FAKE.read_text().replace("true = limits.low", "true = 0.0 * limits.low")
    text = text.replace("+ part * limits.width", "+ 0.3 * part")
    fake = start(sys.executable, "-c", text, str(urdf))
    fake.wait_for("serving")
    before = used.read_text()
    run = hc("calibrate", "--joint", "left_wrist_roll", "--duration", "1.5")
    assert run.finish() == 1
    assert run.lines[-1] == ("hc: no joint was swept by 0.5 rad or flipped: nothing was written")
    assert used.read_text() == before


# Without a robot.


def flip(used: Path, *options: str):
    return CliRunner().invoke(app, ["calibrate", "--calibration", str(used), *options])


def test_a_flip_alone_needs_neither_sweep_nor_robot(used) -> None:
    before = entries(used)
    result = flip(used, "--flip", "left_elbow_pitch")
    assert result.exit_code == 0, result.output
    assert "left_elbow_pitch: direction +1, homing offset +1.5" in result.output
    after = entries(used)
    changed = [joint for joint in after if after[joint] != before[joint]]
    assert changed == ["left_elbow_pitch"]
    # offset + direction_old · (lower + upper)
    offset = before["left_elbow_pitch"]["homing_offset"] + TRUE_DIRECTION * (-2.3 + 0.35)
    assert after["left_elbow_pitch"]["homing_offset"] == pytest.approx(offset)
    assert after["left_elbow_pitch"]["direction"] == -TRUE_DIRECTION
    assert flip(used, "--flip", "left_elbow_pitch").exit_code == 0
    for joint, entry in entries(used).items():
        assert entry == pytest.approx(before[joint])
    assert len(list(used.parent.glob("*.bak"))) == 2


def test_files_of_a_flip_are_found_from_the_current_folder(
    used, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped = find_robot().drives.hardware
    (tmp_path / "hardware.yaml").write_text(shipped.read_text())
    monkeypatch.chdir(tmp_path)
    calibration = os.path.relpath(used, tmp_path)
    words = ["--flip", "left_elbow_pitch", "--hardware", "hardware.yaml", "--output", "new.yaml"]
    result = CliRunner().invoke(app, ["calibrate", "--calibration", calibration, *words])
    assert result.exit_code == 0, result.exception
    assert "left_elbow_pitch" in entries(tmp_path / "new.yaml")


def test_a_flip_of_an_unknown_joint_changes_nothing(used) -> None:
    before = used.read_text()
    result = flip(used, "--flip", "left_elbow_pitch", "--flip", "left_knee")
    assert "unknown joint left_knee" in str(result.exception)
    assert used.read_text() == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("calibrate", "is needed without a terminal"),
        ("calibrate --joint left_elbow_pitch", "is needed without a terminal"),
        ("calibrate --duration 1", "is for each --joint; give them"),
        ("calibrate --duration 1 --calibration FILE", "is for --flip alone"),
        ("calibrate --duration 1 --hardware FILE", "is for --flip alone"),
        ("calibrate --duration 0", "--duration"),
    ],
)
def test_a_bad_argument_is_a_usage_error(used, arguments: str, message: str) -> None:
    result = CliRunner().invoke(app, arguments.replace("FILE", str(used)).split())
    assert result.exit_code == 2
    assert message in result.output


# In a terminal.


@pytest.fixture
def terminal(start_once: Starter) -> Iterator[Callable[..., Terminal]]:
    opened = []

    def begin(*arguments: str, kind: str = "xterm") -> Terminal:
        words = [sys.executable, "-c", HC, "calibrate", *arguments]
        environment = os.environ | start_once.environment | {"TERM": kind, "COLUMNS": "120"}
        opened.append(Terminal(words, environment))
        return opened[-1]

    yield begin
    for one in opened:
        one.process.kill()
        one.process.wait()


def test_in_a_terminal_keys_select_and_write_and_a_table_shows_all_joints(
    prime, terminal, tmp_path
) -> None:
    output = tmp_path / "new.yaml"
    screen = terminal("--output", str(output))
    screen.wait_for(lambda text: "right_wrist_yaw" in text and "w: write" in text)
    screen.press("n")  # left_shoulder_pitch
    prime.wait_for(f"gate 0 1 {LIMP}")
    screen.wait_for(lambda text: "100%" in text)
    screen.press("\x1b[B")  # the next joint
    prime.wait_for(f"gate 1 1 {LIMP}")
    screen.press("pp")  # back from the first joint to the last
    prime.wait_for(f"gate 9 1 {LIMP}")
    prime.wait_for(f"gate 1 0 {FACTORY}")
    screen.press("0")
    prime.wait_for(f"gate 9 0 {FACTORY}")
    screen.press("xw")
    assert screen.finish() == 0, screen.text
    assert "written to" in screen.text
    assert entries(output)["left_shoulder_pitch"]["homing_offset"] == pytest.approx(TRUE_OFFSET)


def test_in_a_terminal_q_restores_and_writes_nothing(prime, terminal) -> None:
    before = prime.used.read_text()
    screen = terminal("--joint", "left_elbow_pitch")
    prime.wait_for(f"gate 3 1 {LIMP}")
    screen.press("q")
    assert screen.finish() == 1
    prime.wait_for(f"gate 3 0 {FACTORY}")
    assert "aborted, nothing was written" in screen.text
    assert prime.used.read_text() == before


def test_a_terminal_that_is_closed_restores_the_limp_joint(prime, terminal) -> None:
    """The terminal is closed, as if the connection to the robot breaks."""
    screen = terminal("--joint", "left_elbow_pitch", "--duration", "1000")
    prime.wait_for(f"gate 3 1 {LIMP}")
    screen.process.send_signal(signal.SIGHUP)
    prime.wait_for(f"gate 3 0 {FACTORY}")
    assert screen.process.wait(60) == 128 + signal.SIGHUP


def test_a_terminal_that_shows_no_table_is_refused(prime, terminal) -> None:
    screen = terminal("--joint", "left_elbow_pitch", kind="dumb")
    assert screen.finish() == 2
    assert "is needed without a terminal that has keys and shows a table" in screen.text
    assert prime.gates == []


def test_a_low_terminal_shows_the_keys_and_why_a_joint_is_not_limp() -> None:
    prior, limits = JointCalibration(1, 0.0), Interval(-1.0, 1.0)
    swept = joint_result("elbow", prior, Interval(0.0, 0.6), limits, flip=False)
    assert swept.warnings
    rows = [JointRow(swept, 0.25, selected=False, loose=False)] * 14
    screen = io.StringIO()
    console = Console(width=80, height=24, file=screen, force_terminal=True, color_system=None)
    with Live(console=console, auto_refresh=False) as live:
        live.update(rendered(rows, "elbow cannot be limp"), refresh=True)
        shown = screen.getvalue()
    assert "0: none" in shown
    assert "elbow cannot be limp" in shown
    assert "..." in shown  # the warnings do not fit


def test_the_table_has_each_number_of_a_joint_under_its_title() -> None:
    prior, limits = JointCalibration(-1, 0.5), Interval(-1.0, 1.0)
    result = joint_result("elbow", prior, Interval(-0.75, 1.15), limits, flip=False)
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(rendered([JointRow(result, 0.25, selected=True, loose=True)], ""))
    title, elbow = console.export_text().splitlines()[2:4]
    columns = ["joint", "limp", "raw", "min", "max", "sweep", "URDF", "dir", "offset"]
    assert title.split() == columns
    found = dict(zip(columns, elbow.split(), strict=True))
    assert found == {
        "joint": "elbow", "limp": "limp", "raw": "+0.250", "min": "-0.750", "max": "+1.150",
        "sweep": "1.900", "URDF": "95%", "dir": "-1", "offset": "+0.20000",
    }  # fmt: skip
    (line,) = result_lines([result])
    assert line.startswith("elbow: direction -1, homing offset +0.200000 rad (swept 1.900 of 2.000")
