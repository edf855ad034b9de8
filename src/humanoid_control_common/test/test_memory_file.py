"""Files in memory: header, facts, data; files with another content are refused."""

from __future__ import annotations

import mmap
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_control_common.errors import RobotError
from humanoid_control_common.memory_file import HeaderWord, Layout, create_memory, open_own

LAYOUT = Layout("notes", b"NOTEBOOK", version=2, words=8)
SIZE = 4096


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.notes"


def read(path: Path, layout: Layout = LAYOUT) -> tuple[mmap.mmap, bytes]:
    descriptor = open_own(path)
    try:
        return layout.read(path, descriptor)
    finally:
        os.close(descriptor)


@given(facts=st.binary(max_size=SIZE - 64))
def test_a_reader_finds_the_facts_and_what_is_written_later(
    facts: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("notes") / "a.notes"
    memory = create_memory(path, SIZE)
    LAYOUT.begin(memory, facts)
    other, found = read(path)
    assert found == facts
    memory[-4:] = b"late"
    assert other[-4:] == b"late"


@given(st.integers(0, 2000))
def test_data_begin_behind_the_facts_at_a_multiple_of_64_bytes(size: int) -> None:
    at = LAYOUT.data_at(size)
    assert at % 64 == 0
    assert 0 <= at - (64 + size) < 64


@pytest.mark.parametrize(
    ("word", "text"),
    [(HeaderWord.MAGIC, "is no file of notes, or not one yet"),
     (HeaderWord.VERSION, "has notes of another version of this program")],
)  # fmt: skip
def test_memory_file_of_another_content_or_version_is_refused(
    path: Path, word: HeaderWord, text: str
) -> None:
    memory = create_memory(path, SIZE)
    LAYOUT.begin(memory, b"facts")
    LAYOUT.header(memory)[word] += 1
    with pytest.raises(RobotError, match=f"{path} {text}"):
        read(path)


def test_a_file_without_a_whole_header_is_refused(path: Path) -> None:
    path.write_bytes(b"x" * 63)
    with pytest.raises(RobotError, match=f"{path} is no file of notes"):
        read(path)


def test_only_regular_files_of_this_user_are_opened(path: Path, tmp_path: Path) -> None:
    create_memory(path, SIZE)
    assert path.stat().st_mode & 0o777 == 0o600
    link = tmp_path / "link"
    link.symlink_to(path)
    with pytest.raises(OSError, match="symbolic links"):
        open_own(link)
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with pytest.raises(RobotError, match="is not this user's"):
        open_own(fifo)


def test_an_existing_file_is_never_written_over(path: Path) -> None:
    path.write_text("of another program")
    with pytest.raises(FileExistsError):
        create_memory(path, SIZE)
    assert path.read_text() == "of another program"
