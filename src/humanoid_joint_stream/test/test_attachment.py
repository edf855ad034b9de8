"""The server attaches to the control process, also while no descriptor is free."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from humanoid_control_common.tick_records.record_file import RecordStore, create
from humanoid_joint_stream.server import attachment as module
from humanoid_joint_stream.server.attachment import Attachment
from humanoid_joint_stream.shared import stream_file
from humanoid_joint_stream.shared.stream_file import StreamFile
from src.humanoid_joint_stream.test.joint_bench import Bench
from src.humanoid_joint_stream.test.test_robot_states import FACTS
from src.humanoid_joint_stream.test.test_server import Link


def no_descriptor(*_: Any) -> Any:
    raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))


@pytest.fixture
def attachment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Attachment]:
    """The shared memory of a running control process, which is this process."""
    bench = Bench()
    path = tmp_path / "a.stream"
    stream_file.create(path, bench.file.facts)
    create(FACTS, tmp_path)
    monkeypatch.setattr(module, "path_of", lambda namespace: path)
    records = RecordStore(tmp_path)
    it = Attachment(Link(bench), lambda: bench.now, None, records=records)
    yield it
    it.leave("the test ends")


def test_a_robot_stays_attached_while_its_process_cannot_be_checked(
    attachment: Attachment, monkeypatch: pytest.MonkeyPatch
) -> None:
    attachment.poll()
    robot = attachment.robot
    assert robot is not None
    for kind, name in ((StreamFile, "writer_lives"), (Path, "stat")):
        with monkeypatch.context() as without:
            without.setattr(kind, name, no_descriptor)
            attachment.poll()
        assert attachment.robot is robot


def test_a_controller_that_is_not_loaded_is_loaded_and_a_client_told_why_it_is_not_yet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    create(FACTS, tmp_path)
    monkeypatch.setattr(module, "path_of", lambda namespace: tmp_path / "none.stream")
    answers = ["it is being loaded", "its file is wrong"]
    loads = iter(answers)
    link, records = Link(Bench()), RecordStore(tmp_path)
    waiting = Attachment(link, lambda: 0, lambda: next(loads), records=records)
    for expected in answers:
        waiting.poll()
        assert waiting.obstacle == expected


def test_a_process_that_has_ended_is_left_and_its_memory_removed(
    attachment: Attachment, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    attachment.poll()
    robot = attachment.robot
    assert robot is not None
    monkeypatch.setattr(StreamFile, "writer_lives", lambda file: False)
    attachment.poll()
    assert attachment.robot is None
    assert robot.states.end == "the control process has ended"
    assert not list(tmp_path.glob("*.stream"))


def test_the_obstacle_tells_a_missing_process_from_a_controller_that_is_not_loaded(
    attachment: Attachment, tmp_path: Path
) -> None:
    """A process may run without the memory of tick records, too."""
    (memory,) = tmp_path.glob("*.stream")
    memory.rename(tmp_path / "kept")
    attachment.poll()
    assert attachment.robot is None
    assert attachment.obstacle == "the joint stream's controller is not loaded: `hc load` it"
    (records,) = tmp_path.glob("*.flight")
    records.unlink()
    attachment.poll()
    assert "does not run, or has no tick records" in attachment.obstacle


def test_a_controller_that_is_loaded_anew_is_attached_and_the_readers_get_the_reason(
    attachment: Attachment, tmp_path: Path
) -> None:
    attachment.poll()
    robot = attachment.robot
    assert robot is not None
    attachment.poll()
    assert attachment.robot is robot
    assert not robot.states.end
    stream_file.create(tmp_path / "a.stream", robot.session.file.facts)
    attachment.poll()
    assert robot.states.end == "the controller of the joint stream was loaded anew"
    assert attachment.robot not in (None, robot)


def test_a_robot_is_found_once_there_are_descriptors_again(
    attachment: Attachment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failed check releases the lock of the file."""
    for kind, name in ((RecordStore, "files"), (StreamFile, "writer_lives")):
        with monkeypatch.context() as without:
            without.setattr(kind, name, no_descriptor)
            attachment.poll()
        assert attachment.robot is None
    attachment.poll()
    assert attachment.robot is not None
