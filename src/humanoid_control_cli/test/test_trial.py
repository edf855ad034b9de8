"""`hc twin trial`: a trial of the fault campaign, run again and shown."""

from __future__ import annotations

import re
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from humanoid_control_msgs.msg import ControlMode
from sensor_msgs.msg import JointState

from humanoid_control_cli.client import Client
from humanoid_control_cli.twin.trial import (
    NoWorkspaceError,
    Trial,
    TrialError,
    find_workspace,
    run_trial,
    trial_folder,
)
from humanoid_recording.trial_files import TrialFiles

if TYPE_CHECKING:
    from src.humanoid_control_cli.test.conftest import Starter

TIMEOUT = 60.0  # [s]; a dead-man's switch
KIND, SEED = "ring: drive error 0x8500", 7
WORKSPACE = Path(__file__).parents[3]


@pytest.fixture
def client(start: Starter, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    for name, value in start.environment.items():
        monkeypatch.setenv(name, value)
    with Client(TIMEOUT) as client:
        yield client


def test_a_trial_is_shown_up_to_its_fall_and_stands_still_there(
    start: Starter, client: Client, tmp_path: Path
) -> None:
    states: list[JointState] = []
    modes: list[ControlMode] = []
    client.subscribe(JointState, "/prime/joint_states", states.append, 1000)
    client.subscribe(ControlMode, "/control_mode", modes.append, 1000)
    words = ("--kind", KIND, "--stop-at", "fall", "--port", "0", "--trace", str(tmp_path / "files"))
    run = start.hc_anew("twin", "trial", str(SEED), *words)
    run.wait_for("viewer: http")
    shown = client.wait(lambda: re.search(r"replayed \d+ messages until", run.text), TIMEOUT)
    assert shown, run.text
    seen = len(states)
    assert client.wait(lambda: len(states) >= seen + 3, TIMEOUT), "it counts as lost"
    assert states[-1] == states[-2]
    assert "Fell to safety" in modes[-1].status_message
    line = [text.split()[2] for text in run.lines if re.match(r" +\+\d+\.\d+ s  ", text)]
    assert line[-6:] == ["fault:", "fall:", "mode:", "soft:", "mended:", "mode:"]
    assert all((tmp_path / "files" / name).exists() for name in ("topics", "ring.pcap", "can.log"))
    run.send(signal.SIGINT)
    assert run.finish() == 0, run.text
    assert not run.descendants()


def test_the_workspace_is_found_from_a_folder_in_it() -> None:
    assert find_workspace([Path("/"), WORKSPACE / "src/humanoid_twin"]) == WORKSPACE


def test_without_a_workspace_there_is_no_campaign(tmp_path: Path) -> None:
    with pytest.raises(NoWorkspaceError, match="in a checkout of the workspace"):
        find_workspace([tmp_path])


@pytest.mark.parametrize(
    ("trial", "folder", "text"),
    [
        (Trial(SEED, "no such kind"), "files", "no kind with 'no such kind' in its name"),
        (Trial(SEED, "can:"), "files", "'can:' is in the name of"),
        (Trial(SEED, KIND, robot="mine"), "files", "there is no robot 'mine'; installed: "),
        (Trial(SEED, KIND), "file", "cannot make the bag .*/file/topics: Not a directory"),
    ],
)
def test_a_trial_that_cannot_be_run_is_an_error_with_the_campaigns_reason(
    trial: Trial, folder: str, text: str, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(TrialError, match=text):
        run_trial(trial, TrialFiles(tmp_path / folder), WORKSPACE)


def test_the_temporary_folder_of_a_trial_that_fails_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with trial_folder(None) as kept:
        (kept / "topics").touch()
    with pytest.raises(TrialError), trial_folder(None) as failed:
        (failed / "topics").touch()
        raise TrialError("the trial did not run")
    with pytest.raises(TrialError), trial_folder(tmp_path):
        raise TrialError("the trial did not run")
    assert list(tmp_path.iterdir()) == [kept]
    assert kept.name.startswith("hc_trial_")
