"""Flushed data can be read after any end of a recording."""

import errno
import os
import resource
import shutil
import signal
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import lz4.frame
import pytest
import zstandard
from mcap.data_stream import RecordBuilder
from mcap.records import Chunk
from mcap.writer import MCAP0_MAGIC, CompressionType, Writer
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState

from humanoid_recording.crash_safe_file import BagError
from humanoid_recording.reader import BagReader
from humanoid_recording.recording import ReceivedMessage, Recording
from humanoid_recording.writer import ROOM, BagWriter

STATES = "/prime/joint_states"
MESSAGE = JointState(name=["left_elbow_pitch"], position=[0.1])
DATA = serialize_message(MESSAGE)
PLENTY = 1 << 40  # bytes
START = 1_700_000_000_000_000_000  # [ns]
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"


def times(path: Path) -> list[int]:
    return [(message.time - START) // 20_000_000 for message in BagReader(path)]


def test_a_recording_cut_anywhere_is_read_to_its_last_whole_chunk(tmp_path: Path, bags) -> None:
    bags.write(tmp_path / "walk", [(STATES, MESSAGE)] * 5)
    whole = (tmp_path / "walk/walk_0.mcap").read_bytes()
    cut = tmp_path / "cut.mcap"
    counts = []
    for size in range(8, len(whole), 7):
        cut.write_bytes(whole[:size])
        reader = BagReader(cut)
        found = [(message.time - START) // 20_000_000 for message in reader]
        assert found == list(range(len(found)))
        assert reader.damage.startswith("cut.mcap was not finished")
        counts.append(len(found))
    assert counts == sorted(counts)
    assert set(counts) == set(range(6))


def test_a_damaged_recording_is_read_up_to_the_damage(tmp_path: Path, bags) -> None:
    bags.write(tmp_path / "walk", [(STATES, MESSAGE)] * 5)
    path = tmp_path / "walk/walk_0.mcap"
    whole = bytearray(path.read_bytes())
    at = whole.index(b"zstd", whole.index(b"zstd") + 1) + 30  # inside the second chunk
    whole[at] ^= 0xFF
    path.write_bytes(whole)
    reader = BagReader(path)
    assert [message.time for message in reader] == [START]
    assert reader.damage.startswith("walk_0.mcap is damaged from byte ")


@pytest.mark.parametrize("length", [b"\xff" * 8, (1 << 44).to_bytes(8, "little")])
def test_a_damaged_length_is_no_reason_to_run_out_of_memory(
    tmp_path: Path, bags, length: bytes
) -> None:
    bags.write(tmp_path / "walk", [(STATES, MESSAGE)] * 2)
    path = tmp_path / "walk/walk_0.mcap"
    whole = path.read_bytes()
    begin = len(MCAP0_MAGIC)
    # The record of an attachment: its size, two times, two empty texts, the length of its content.
    attachment = b"\x09" + (32).to_bytes(8, "little") + bytes(24) + length
    path.write_bytes(whole[:begin] + attachment + whole[begin:])
    reader = BagReader(path)
    assert not list(reader)
    assert reader.damage.startswith("walk_0.mcap is damaged from byte ")


@pytest.mark.parametrize(
    ("place", "size"),
    [
        # Behind it: a CRC, the name of the compression with its length, the length of the frame.
        pytest.param(-8 - 4 - 8 - 8, b"\xff" * 8, id="of a chunk"),
        # Before it: the magic number. The first byte announces a size of 8 bytes.
        pytest.param(4, b"\xe0" + (1 << 62).to_bytes(8, "little"), id="of a compressed frame"),
    ],
)
def test_a_damaged_size_in_a_chunk_is_damage(tmp_path: Path, bags, place: int, size: bytes) -> None:
    bags.write(tmp_path / "walk", [(STATES, MESSAGE)] * 2)
    path = tmp_path / "walk/walk_0.mcap"
    whole = path.read_bytes()
    begin = whole.rindex(ZSTD_MAGIC) + place  # of the second chunk
    path.write_bytes(whole[:begin] + size + whole[begin + len(size) :])
    reader = BagReader(path)
    assert [message.time for message in reader] == [START]
    assert reader.damage.startswith("walk_0.mcap is damaged from byte ")


@pytest.mark.parametrize("compress", [zstandard.compress, lz4.frame.compress])
@pytest.mark.parametrize("stated", [1000, 1 << 40])
def test_a_chunk_that_grows_beyond_its_size_or_all_bounds_is_damage(
    tmp_path: Path, compress: Callable[[bytes], bytes], stated: int
) -> None:
    kind = compress.__module__.partition(".")[0].replace("zstandard", "zstd")
    records = RecordBuilder()
    Chunk(kind, compress(bytes(1 << 20)), 0, 0, 0, stated).write(records)
    path = tmp_path / "bomb.mcap"
    path.write_bytes(MCAP0_MAGIC + records.end())
    reader = BagReader(path)
    assert not list(reader)
    assert reader.damage.startswith("bomb.mcap is damaged from byte ")
    assert str(stated) in reader.damage


def test_flushed_message_is_readable_before_the_end(tmp_path: Path, bags) -> None:
    folder = tmp_path / "walk"
    with BagWriter(folder, lambda _: PLENTY) as bag:
        bag.add_topic(bags.topic(STATES, MESSAGE))
        bag.add(STATES, DATA, START, START)
        bag.flush()
        assert times(folder) == [0]


def test_a_file_that_can_grow_no_more_ends_with_what_was_whole(tmp_path: Path, bags) -> None:
    folder = tmp_path / "walk"
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        with (
            pytest.raises(BagError, match=r"walk_0.mcap: .*what was written before is whole"),
            BagWriter(folder, lambda _: PLENTY) as bag,
        ):
            bag.add_topic(bags.topic(STATES, MESSAGE))
            bag.add(STATES, DATA, START, START)
            bag.flush()
            resource.setrlimit(resource.RLIMIT_FSIZE, (bag.size + 50, before[1]))
            bag.add(STATES, DATA, START + 1, START)
            bag.flush()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    assert times(folder) == [0]
    assert (folder / "walk_0.mcap").stat().st_size == bag.size


def test_a_disk_that_is_nearly_full_ends_the_recording_in_order(tmp_path: Path, bags) -> None:
    free = iter([ROOM, ROOM - 1])
    with pytest.raises(BagError, match="only 100 MB are left on the disk"):
        bags.write(tmp_path / "walk", [(STATES, MESSAGE)] * 3, free=lambda _: next(free))
    reader = BagReader(tmp_path / "walk")
    assert len(list(reader)) == 2
    assert not reader.damage
    assert (tmp_path / "walk/metadata.yaml").exists()


def test_a_bag_is_never_written_over(tmp_path: Path, bags) -> None:
    (tmp_path / "walk").mkdir()
    with pytest.raises(BagError, match="walk exists already"):
        BagWriter(tmp_path / "walk")


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path, bags) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BagError, match=r"cannot make the bag .*/file/walk: Not a directory"):
        BagWriter(tmp_path / "file/walk")


def test_a_bag_whose_file_cannot_be_made_leaves_nothing(tmp_path: Path, bags) -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, before[1]))
    try:
        with pytest.raises(BagError, match=r"cannot make the bag .*/walk: Too many open files"):
            BagWriter(tmp_path / "walk")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert not list(tmp_path.iterdir())


def test_an_empty_bag_leaves_nothing(tmp_path: Path, bags) -> None:
    bags.write(tmp_path / "walk", [])
    assert not list(tmp_path.iterdir())


def test_messages_are_dropped_and_counted_when_the_disk_is_too_slow(tmp_path: Path, bags) -> None:
    with BagWriter(tmp_path / "walk", lambda _: PLENTY) as bag:
        recording = Recording(bag, most_waiting=2 * len(DATA))  # not entered: nothing is written
        recording.add_topic(bags.topic(STATES, MESSAGE))
        for i in range(5):
            recording.add(ReceivedMessage(STATES, DATA, START + i * 20_000_000, START))
        assert recording.dropped == 3
        with recording:
            pass
    assert times(tmp_path / "walk") == [0, 1]


def test_an_error_of_the_disk_is_kept_for_the_recorder(tmp_path: Path, bags) -> None:
    with (
        BagWriter(tmp_path / "walk", lambda _: 0) as bag,
        Recording(bag) as recording,
    ):
        recording.add_topic(bags.topic(STATES, MESSAGE))
        recording.add(ReceivedMessage(STATES, DATA, START, START))
    assert "the recording ends here" in str(recording.error)
    assert times(tmp_path / "walk") == [0]


def test_a_message_that_cannot_be_written_ends_the_recording(tmp_path: Path, bags) -> None:
    with BagWriter(tmp_path / "walk") as bag, Recording(bag) as recording:
        recording.add_topic(bags.topic(STATES, MESSAGE))
        recording.add(ReceivedMessage(STATES, DATA, START, 1 << 64))
    assert isinstance(recording.error, BagError)
    assert "the recording failed" in str(recording.error)


def test_a_removed_bag_ends_the_recording(tmp_path: Path, bags) -> None:
    folder = tmp_path / "walk"
    with BagWriter(folder) as bag, Recording(bag) as recording:
        recording.add_topic(bags.topic(STATES, MESSAGE))
        recording.add(ReceivedMessage(STATES, DATA, START, START))
        shutil.rmtree(folder)
    assert str(recording.error) == f"{folder}: No such file or directory"


def test_a_disk_that_fails_ends_the_recording(
    tmp_path: Path, bags, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    with BagWriter(tmp_path / "walk", lambda _: PLENTY) as bag:
        monkeypatch.setattr(os, "fdatasync", fail)
        with Recording(bag) as recording:
            recording.add_topic(bags.topic(STATES, MESSAGE))
            recording.add(ReceivedMessage(STATES, DATA, START, START))
    assert "walk_0.mcap: Input/output error" in str(recording.error)


def test_a_disk_that_takes_nothing_any_more_ends_the_recording(tmp_path: Path, bags) -> None:
    """It was unplugged: neither a write nor the cut of the file succeeds."""
    path = tmp_path / "walk/walk_0.mcap"
    with BagWriter(tmp_path / "walk", lambda _: PLENTY) as bag:
        with Path(os.devnull).open() as nothing:
            os.dup2(nothing.fileno(), descriptor_of(path))
        with Recording(bag) as recording:
            recording.add_topic(bags.topic(STATES, MESSAGE))
            recording.add(ReceivedMessage(STATES, DATA, START, START))
    assert str(recording.error).startswith(f"{path}: Bad file descriptor")


def descriptor_of(path: Path) -> int:
    """Return this process's descriptor of an open file."""
    links = Path("/proc/self/fd").iterdir()
    return next(int(link.name) for link in links if link.resolve() == path)


def test_a_message_of_no_channel_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "odd.mcap"
    with path.open("wb") as file:
        writer = Writer(file, compression=CompressionType.NONE)
        writer.start()
        writer.add_message(7, START, DATA, START)
        writer.finish()
    with pytest.raises(BagError, match=r"odd.mcap: channel 7 has no description"):
        list(BagReader(path))


@pytest.mark.parametrize("name", ["notes.txt", "empty.mcap"])
def test_a_path_that_is_no_bag_is_refused(tmp_path: Path, bags, name: str) -> None:
    path = tmp_path / name
    path.write_text("" if name == "empty.mcap" else "no bag at all")
    with pytest.raises(BagError, match=f"{name} is no MCAP file"):
        list(BagReader(path))
    with pytest.raises(BagError, match="neither an MCAP file nor a folder with one"):
        BagReader(tmp_path / "nowhere")


def test_a_file_that_cannot_be_read_is_refused_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "bag.mcap").mkdir()
    with pytest.raises(BagError, match=r"bag\.mcap: cannot be read: Is a directory"):
        list(BagReader(tmp_path))


class FailingDisk(BytesIO):
    """A file whose disk fails behind the magic bytes."""

    def read(self, size: int | None = -1) -> bytes:
        if self.tell() >= len(MCAP0_MAGIC):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return super().read(size)


def test_a_disk_that_fails_ends_the_bag_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "bag.mcap"
    path.write_bytes(MCAP0_MAGIC)
    monkeypatch.setattr(Path, "open", lambda _path, _mode: FailingDisk(MCAP0_MAGIC))
    reader = BagReader(path)
    assert list(reader) == []
    assert "Input/output error" in reader.damage


def test_the_files_of_a_split_bag_come_in_their_order(tmp_path: Path, bags) -> None:
    folder = tmp_path / "split"
    folder.mkdir()
    for number in (10, 9):
        bags.write(tmp_path / f"part{number}", [(STATES, MESSAGE)] * (number - 8))
        (tmp_path / f"part{number}/part{number}_0.mcap").rename(folder / f"split_{number}.mcap")
    assert times(folder) == [0, 0, 1]
