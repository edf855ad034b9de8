"""`hc friction` with the real control process and mock hardware, and its plots."""

from __future__ import annotations

import signal
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from typer.testing import CliRunner

from humanoid_control_cli.app import app
from humanoid_control_cli.friction.plot import plot
from humanoid_control_cli.friction.record import _map, _Progress, is_within, record
from humanoid_control_cli.friction.session import Settings, Task
from humanoid_control_cli.mode_client import ModeClient
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.rules.modes import Intent, Mode
from humanoid_servo_controllers.friction_file import FrictionMaps, save_friction_maps
from humanoid_servo_controllers.friction_recording.maps import Residual
from humanoid_servo_controllers.friction_recording.recording import Bounds, FrictionSample
from humanoid_servo_controllers.friction_recording.samples_file import save_samples
from humanoid_servo_controllers.servo.friction_map import FrictionCurve, FrictionMap

if TYPE_CHECKING:
    from src.humanoid_control_cli.test.conftest import Starter

TIMEOUT = 30.0  # [s]; a dead-man's switch
WRIST = "left_wrist_roll"


def arguments(into: Path, *more: str) -> list[str]:
    return ["friction", "record", "--yes", "--into", str(into), "--timeout", str(TIMEOUT), *more]


def to_standby(modes: ModeClient) -> None:
    if modes.statement().mode is Mode.STANDBY:
        return
    modes.request(Intent.DAMP)
    modes.wait_for_ready_pose(modes.request(Intent.LOAD))


def test_friction_recording_is_refused_outside_standby(
    robot: Starter, modes: ModeClient, tmp_path: Path
) -> None:
    modes.request(Intent.DAMP)
    run = robot.hc(*arguments(tmp_path / "f.yaml", "--joint", WRIST))
    assert run.finish() == 1
    assert "expected STANDBY: hc mode damp, hc mode standby --wait" in run.text


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--joint", "left_toe"], "unknown joint left_toe"),
        (["--joint", "left_elbow_pitch"], "effort per_tick not offered by left_elbow_pitch"),
        (["--joint", WRIST, "--min", "-3"], "expected a range within -0.65 to 0.65 rad"),
        (["--joint", WRIST, "--max-effort", "99"], "expected at most 9 Nm"),
        (["--joint", WRIST, "--joint", WRIST], "a joint is given twice"),
    ],
)
def test_invalid_friction_recording_is_refused_before_any_motion(
    robot: Starter, modes: ModeClient, tmp_path: Path, options: list[str], words: str
) -> None:
    to_standby(modes)
    before = modes.statement()
    run = robot.hc(*arguments(tmp_path / "f.yaml", *options))
    assert run.finish() == 1
    assert words in run.text
    assert "Ctrl-C ends the effort at once" not in run.text  # before the operator is asked
    assert modes.statement().switch_number == before.switch_number
    assert not list(tmp_path.iterdir())


def test_a_stop_by_the_operator_ends_in_damping_and_writes_nothing(
    robot: Starter, modes: ModeClient, tmp_path: Path
) -> None:
    to_standby(modes)
    run = robot.hc_anew(*arguments(tmp_path / "f.yaml", "--joint", WRIST))
    run.wait_for(f"{WRIST}: 0%")
    run.send(signal.SIGINT)
    assert run.finish() == 130
    assert f"aborted, not recorded: {WRIST}" in run.text
    assert not list(tmp_path.iterdir())
    mode = robot.hc("mode")
    assert mode.finish() == 0
    assert mode.text.startswith(Mode.DAMPING.name)
    unload = robot.hc("unload", "friction_recorder")
    assert unload.finish() == 1  # the controller is unloaded already


def test_a_second_friction_recording_is_refused_and_leaves_the_first_alone(
    robot: Starter, modes: ModeClient, tmp_path: Path
) -> None:
    to_standby(modes)
    first = robot.hc(*arguments(tmp_path / "first.yaml", "--joint", WRIST))
    first.wait_for(f"{WRIST}: 0%")
    second = robot.hc(*arguments(tmp_path / "second.yaml", "--joint", "right_wrist_roll"))
    assert second.finish() == 1
    assert "a friction recording process is already running" in second.text
    mode = robot.hc("mode")
    assert mode.finish() == 0
    assert "friction_recorder" in mode.text
    first.send(signal.SIGINT)
    assert first.finish() == 130


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_a_signal_at_the_question_unloads_the_recorder(
    robot: Starter, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, number: signal.Signals
) -> None:
    for name, value in robot.environment.items():
        monkeypatch.setenv(name, value)
    robot.ask("mode", "damp")
    assert robot.ask("mode", "standby", "--wait")[0] == 0
    signal.signal(number, lambda *_: None)  # the default would end the tests
    monkeypatch.setattr("typer.confirm", lambda _: signal.raise_signal(number))
    file, ends = tmp_path / "f.yaml", (None, None)
    assert (
        record((WRIST,), file, ends, 10, Settings("breakaway"), yes=False, timeout=TIMEOUT) == 130
    )
    code, text = robot.ask("unload", "friction_recorder")
    assert code == 1
    assert "no controller with this name exists" in text


def test_friction_recording_ends_with_its_mode(
    robot: Starter, modes: ModeClient, tmp_path: Path
) -> None:
    to_standby(modes)
    run = robot.hc(*arguments(tmp_path / "f.yaml", "--joint", WRIST))
    run.wait_for(f"{WRIST}: 0%")
    modes.request(Intent.DAMP)
    assert run.finish() == 1
    assert "the recording is aborted" in run.text
    assert not list(tmp_path.iterdir())


def test_a_file_that_exists_or_cannot_be_made_is_refused(tmp_path: Path) -> None:
    table = tmp_path / "f.csv"
    table.write_text("")
    for path, words in (
        (tmp_path / "f.yaml", f"{table} exists already"),
        (tmp_path / "no/f.yaml", "is no folder that can be written to"),
        (tmp_path / "g.csv", "a .csv has the samples, expected another suffix"),
    ):
        result = CliRunner().invoke(app, arguments(path, "--joint", WRIST))
        assert words in str(result.exception)


@pytest.mark.parametrize("option", ["--max-effort", "--speed", "--threshold"])
@pytest.mark.parametrize("command", ["record", "check"])
def test_a_bound_that_is_no_number_is_refused(recorded: Path, command: str, option: str) -> None:
    """No comparison with it would stop the joint."""
    words = ["--joint", WRIST, "--into", str(recorded.with_name("new.yaml"))]
    place = words if command == "record" else [str(recorded)]
    result = CliRunner().invoke(app, ["friction", command, "--yes", *place, option, "nan"])
    assert result.exit_code == 2
    assert f"'{option}': nan, expected a finite number" in result.output


def test_friction_recording_without_a_terminal_requires_the_option_yes(tmp_path: Path) -> None:
    words = [it for it in arguments(tmp_path / "f.yaml", "--joint", WRIST) if it != "--yes"]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 2
    assert "give --yes" in result.output


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """A file with a map, and its samples."""
    path = tmp_path / "f.yaml"
    where = np.array([-0.5, 0.5])
    curves = (FrictionCurve(where, sign * np.array([0.4, 0.5]), sign) for sign in (1, -1))
    save_friction_maps(
        path, FrictionMaps(date(2026, 11, 24), "sweep", {WRIST: FrictionMap(*curves)})
    )
    samples = [FrictionSample(sign, 0.1, 0.45 * sign) for sign in (1, -1)]
    save_samples(path.with_suffix(".csv"), {WRIST: samples})
    return path


def test_a_plot_has_a_known_suffix(recorded: Path) -> None:
    with pytest.raises(ConfigError, match=r"expected a name that ends with \.svg or \.png"):
        plot(recorded, recorded.with_suffix(".pdf"))


def test_a_plot_does_not_overwrite_what_it_draws(recorded: Path) -> None:
    maps = recorded.rename(recorded.with_suffix(".svg"))
    before = maps.read_bytes()
    with pytest.raises(ConfigError, match=r"f\.svg: it has the friction to draw"):
        plot(maps, maps)
    assert maps.read_bytes() == before


def test_plots_are_drawn(recorded: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    for suffix in (".svg", ".png"):
        target = recorded.with_suffix(suffix)
        plot(recorded, target)
        assert target.stat().st_size > 5000
    first = recorded.with_suffix(".svg").read_bytes()
    plot(recorded, recorded.with_suffix(".svg"))
    assert recorded.with_suffix(".svg").read_bytes() == first


@pytest.mark.parametrize(("friction", "warned"), [(0.006, True), (0.03, False)])  # of 4.5 Nm
def test_a_map_within_the_noise_is_reported(
    capsys: pytest.CaptureFixture[str], friction: float, *, warned: bool
) -> None:
    task = Task(WRIST, Bounds(-0.1, 0.1, -1.0, 1.0, 4.5, 1.0, 1), 9.0, 3.0)
    samples = [FrictionSample(sign, 0.05 * i, friction * sign) for sign in (1, -1)
               for i in (-1, -1, -1, 1, 1, 1)]  # fmt: skip
    _map(task, samples, 2)
    assert ("no friction" in capsys.readouterr().err) is warned


@pytest.mark.parametrize(
    ("largest", "friction", "within"),
    [
        (0.0149, 0.1, True),
        (0.0151, 0.1, False),
        (0.0009, 0.001, True),  # hardly any friction: 0.001 Nm is within the noise of 1 Nm
        (0.0011, 0.001, False),
    ],
)
def test_a_residual_is_compared_with_the_friction_and_the_resolution_of_a_recording(
    largest: float, friction: float, within: bool
) -> None:
    assert is_within(Residual(1, 0.0, largest, friction, 4), 0.15, 1.0) is within


def test_a_terminal_that_draws_no_bar_gets_lines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("FORCE_COLOR", "1")  # as a terminal
    recording = Settings("breakaway").recording(Bounds(-0.1, 0.1, -1.0, 1.0, 1.0, 1.0, 1))
    with _Progress() as progress:
        progress.show("left_wrist_roll", recording)
        assert capsys.readouterr().err == "left_wrist_roll: 0% no sample yet\n"
