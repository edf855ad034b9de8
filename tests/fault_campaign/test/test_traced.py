"""The files of one trial on the stepped robot."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import can
import pytest
from fault_campaign.command import main
from test_support.twin.capture import read_capture

from humanoid_devices_erob.protocol.frame import decode_frame
from humanoid_recording.black_box.fault_report import read_fault_report
from humanoid_recording.reader import BagReader
from humanoid_recording.trial_files import TrialEvent, TrialEventType, TrialFiles, read_time_line
from humanoid_stepped.stepped_machine import EPOCH

TESTS = Path(__file__).parents[2]
KIND, SEED = "ring: drive error 0x8500", "7"
TRIAL = ("--kind", KIND, "--trial", SEED)
SABOTAGED = """
import sys
from fault_campaign.command import main
from fault_campaign.disturbing.sabotage import DEFECTS
DEFECTS["never_soft"]()
sys.exit(main(sys.argv[1:]))
"""


def run(folder: Path, *words: str, program: tuple[str, ...] = ("-m", "fault_campaign")) -> Any:
    """Run the campaign in a separate process; return the results of its trials."""
    file = folder / "results.json"
    command = [sys.executable, *program, *words, "--json", str(file)]
    done = subprocess.run(command, cwd=TESTS, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return json.loads(file.read_text())


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> tuple[TrialFiles, Any]:
    """The files of a trial, and its result."""
    folder = tmp_path_factory.mktemp("traced")
    return TrialFiles(folder / "files"), run(folder, *TRIAL, "--trace", str(folder / "files"))


def events(files: TrialFiles, event_type: TrialEventType) -> list[TrialEvent]:
    return [event for event in read_time_line(files.topics) if event.event_type is event_type]


def test_a_trial_with_files_is_the_same_as_without(traced: Any, tmp_path: Path) -> None:
    assert traced[1] == run(tmp_path, *TRIAL)


def test_the_time_line_contains_modes_fault_fall_and_softness(traced: Any) -> None:
    files, (entry,) = traced
    assert [event.text for event in events(files, TrialEventType.MODE)][-1] == "DAMPING"
    (fault,), (fall,) = events(files, TrialEventType.FAULT), events(files, TrialEventType.FALL)
    (soft,), (mended,) = events(files, TrialEventType.SOFT), events(files, TrialEventType.MENDED)
    assert fault.text.startswith(KIND)
    assert entry["result"]["joint"] in fall.text
    assert fault.time < fall.time < soft.time < mended.time
    assert soft.time - fault.time == pytest.approx(entry["result"]["verdict"]["softened"], abs=2e-3)
    assert events(files, TrialEventType.VIOLATION) == []


def test_hc_blackbox_shows_the_trial_from_its_fault_on(traced: Any) -> None:
    report = read_fault_report(traced[0].topics)
    assert report.reasons[0].text.startswith(KIND)
    at = {event.time for event in report.events if "trial.fault" in event.text}
    assert at == {0.0}


def test_the_bag_has_topics_and_the_truth_in_the_order_of_their_dates(traced: Any) -> None:
    times: dict[str, list[int]] = {}
    for recorded in BagReader(traced[0].topics):
        times.setdefault(recorded.channel.topic, []).append(recorded.time)
    assert {"/prime/joint_states", "/control_mode", "/robot_description", "/rosout"} <= set(times)
    assert all(one == sorted(one) for one in times.values())
    truth = times["/twin/joint_states"]
    assert {after - before for before, after in pairwise(truth)} == {10_000_000}
    assert min(map(min, times.values())) > EPOCH


def test_the_capture_of_the_ring_has_each_frame_on_its_way_out_and_back(traced: Any) -> None:
    frames = read_capture(traced[0].ring)
    assert [time for time, _ in frames] == sorted(time for time, _ in frames)
    assert frames[0][0] > EPOCH
    answered = {decode_frame(frame)[0].counter > 0 for _, frame in frames}
    assert answered == {True, False}


def test_python_can_reads_the_log_of_the_can_bus(traced: Any) -> None:
    messages = list(can.LogReader(traced[0].can))
    assert len(messages) > 1000
    assert {message.channel for message in messages} == {"can"}
    assert all(message.is_extended_id for message in messages)
    assert messages[0].timestamp > EPOCH / 1e9


def test_a_violation_is_in_the_time_line_at_its_time(tmp_path: Path) -> None:
    files = TrialFiles(tmp_path / "files")
    words = (*TRIAL, "--trace", str(files.folder))
    (entry,) = run(tmp_path, *words, program=("-c", SABOTAGED))
    (fault,), found = events(files, TrialEventType.FAULT), events(files, TrialEventType.VIOLATION)
    wrong = entry["result"]["violations"]
    assert [it.text for it in found] == [f"{it['type']}: {it['text']}" for it in wrong]
    (late,) = [it for it in found if it.text.startswith("never soft")]
    assert late.time - fault.time == pytest.approx(0.5, abs=2e-3)  # [s] until it must be soft


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("--kind", KIND), "needs --trial"),
        (("--kind", "ring: drive", "--trial", "1"), "in the name of 4"),
        (("--kind", "nothing of it", "--trial", "1"), "no kind with"),
    ],
)
def test_files_of_anything_but_one_trial_are_refused(
    words: tuple[str, ...], text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words, "--trace", str(tmp_path / "files")]) == 2
    assert text in capsys.readouterr().err
    assert not (tmp_path / "files").exists()


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    command = [sys.executable, "-m", "fault_campaign", *TRIAL, "--trace", str(tmp_path / "file")]
    done = subprocess.run(command, cwd=TESTS, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.strip() == f"cannot make the bag {tmp_path}/file/topics: Not a directory"
