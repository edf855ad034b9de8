"""Slots, words and facts in shared memory."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_control_common.errors import RobotError
from humanoid_joint_stream.command.update import UpdateCheck
from humanoid_joint_stream.facts import StreamFacts
from humanoid_joint_stream.shared.records import REPORT_SIZE, Report, SentCommand
from humanoid_joint_stream.shared.slot import Slot
from humanoid_joint_stream.shared.stream_file import StreamFile, attach, create, path_of
from src.humanoid_joint_stream.test.joint_bench import COUNT, Bench, update

SIZE = 40


def slot() -> tuple[Slot, bytearray]:
    memory = bytearray(Slot.bytes_for(SIZE))
    return Slot(memoryview(memory), 0, SIZE), memory


@given(st.lists(st.binary(min_size=SIZE, max_size=SIZE), max_size=6))
def test_the_newest_value_is_read_with_its_number(values: list[bytes]) -> None:
    it, _ = slot()
    assert it.read() is None
    for number, value in enumerate(values, start=1):
        assert it.write(value) == number
        assert it.read() == (number, value)


@given(st.integers(0, Slot.bytes_for(SIZE) - 1), st.integers(1, 255))
def test_a_value_that_is_not_whole_is_never_read(at: int, change: int) -> None:
    """Any byte may differ from the written one."""
    it, memory = slot()
    written = {1: b"a" * SIZE, 2: b"b" * SIZE}
    for value in written.values():
        it.write(value)
    memory[at] ^= change
    found = it.read()
    assert found is None or written.get(found[0]) == found[1]


def test_a_writer_that_was_killed_leaves_the_value_before() -> None:
    it, memory = slot()
    it.write(b"a" * SIZE)
    before = bytes(memory)
    it.write(b"b" * SIZE)
    newest = bytes(memory)
    for at in range(8, len(memory)):  # all but the number, which is written at last
        torn = newest[:at] + before[at:]
        memory[:] = before[:8] + torn[8:]
        assert it.read() == (1, b"a" * SIZE)


def test_encoded_command_is_decoded_to_the_same_command() -> None:
    bench = Bench()
    message = update(bench.now, velocity_safety_limit=0.5, user_command_key=2**32 - 1)
    checked = UpdateCheck(bench.controller.facts).check(message, bench.now)
    sent = SentCommand(2**63, checked.key, checked.velocity_limit, checked.command)
    data = sent.to_bytes()
    assert len(data) == SentCommand.size(COUNT)
    found = SentCommand.from_bytes(data)
    assert (found.activation, found.key, found.velocity_limit) == (2**63, 2**32 - 1, 0.5)
    for name in ("received", "end", "reference", "extrapolation"):
        assert getattr(found.command, name) == getattr(checked.command, name)
    assert np.array_equal(found.command.rows, checked.command.rows)


def test_encoded_report_is_decoded_to_the_same_report() -> None:
    report = Report(*range(len(Report._fields)))
    assert Report.from_bytes(report.to_bytes()) == report


def test_the_server_finds_the_file_of_the_control_process(tmp_path: Path) -> None:
    facts = Bench(effort_tables={"elbow": {"position": [0, 1], "effort": [2, 3]}}).controller.facts
    assert StreamFacts.from_bytes(facts.to_bytes()) == facts
    path = path_of("/left", tmp_path)
    ours = create(path, facts)
    assert path.stat().st_mode & 0o777 == 0o600
    theirs, descriptor = attach(path)
    assert theirs.facts == facts
    assert theirs.writer_lives()
    ours.reports.write(Report(execution=3).to_bytes())
    assert theirs.report().execution == 3
    with pytest.raises(BlockingIOError):
        attach(path)  # one server only
    create(path, facts)  # of the next control process
    _, second = attach(path)
    os.close(second)
    os.close(descriptor)


def test_memory_without_a_file_is_not_shared_with_a_copy_of_the_process() -> None:
    file = StreamFile.in_memory(Bench().controller.facts)
    pid = os.fork()
    if pid == 0:
        file.reports.write(Report(execution=3).to_bytes())
        os._exit(0)
    os.waitpid(pid, 0)
    assert file.report() == Report()


@pytest.mark.parametrize("content", [b"", b"x" * 50, b"x" * 5000])
def test_file_without_a_joint_stream_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.stream"
    path.write_bytes(content)
    with pytest.raises(RobotError, match="no file of a joint stream"):
        attach(path)


def test_files_of_different_robots_have_different_names(tmp_path: Path) -> None:
    assert path_of("", tmp_path) != path_of("/left", tmp_path)


def test_a_report_that_is_being_written_leaves_the_one_before() -> None:
    bench = Bench()
    before = bench.report
    at = len(bench.file.memory) - Slot.bytes_for(REPORT_SIZE)
    for place in range(at + 8, len(bench.file.memory)):
        bench.file.memory[place] ^= 255
    assert bench.file.reports.read() is None
    assert bench.report == before
