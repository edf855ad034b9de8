"""Read bags of this package and of rosbag2, finished or not."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, BinaryIO, Final, cast

from lz4.frame import LZ4FrameDecompressor
from mcap.exceptions import EndOfFile, McapError
from mcap.records import Channel, Chunk, Message, Schema
from mcap.stream_reader import StreamReader, breakup_chunk
from mcap.writer import MCAP0_MAGIC
from zstandard import ZstdDecompressor, ZstdError

from humanoid_recording.crash_safe_file import BagError

_LARGEST: Final = 256 * 1024 * 1024  # bytes of a record or chunk; a larger one is damaged
_DAMAGE: Final = (
    McapError,
    ZstdError,
    OSError,
    ValueError,
    RuntimeError,
    struct.error,
    OverflowError,  # sizes that the decompressor is given
    MemoryError,
)


@dataclass(frozen=True, slots=True)
class RecordedMessage:
    """One message of a bag."""

    channel: Channel
    schema: Schema
    time: int  # [ns] since the epoch, of its arrival at the recorder
    data: bytes  # CDR


class BagReader:
    """The messages of a bag in the order in which they were written; iterates any number of times.

    `path` is the bag's folder or one MCAP file.

    Raises BagError if there is no bag.
    """

    def __init__(self, path: Path) -> None:
        self._files = _files(path)
        self.damage = ""  # where and why reading ended early, if it did

    def __iter__(self) -> Iterator[RecordedMessage]:
        """Yield all readable messages, up to the end or the damage of each file.

        Raises BagError for a file that cannot be read, or isn't MCAP with messages of ROS 2.
        """
        for path in self._files:
            with _opened(path) as file:
                yield from self._messages(path, file)

    def _messages(self, path: Path, file: BinaryIO) -> Iterator[RecordedMessage]:
        schemas: dict[int, Schema] = {}
        channels: dict[int, Channel] = {}
        for record in self._records(path, file):
            if isinstance(record, Schema):
                schemas[record.id] = record
            elif isinstance(record, Channel):
                if record.message_encoding != "cdr" or record.schema_id not in schemas:
                    raise BagError(f"{path}: {record.topic} is not of ROS 2")
                channels[record.id] = record
            elif isinstance(record, Message):
                channel = channels.get(record.channel_id)
                if channel is None:
                    raise BagError(f"{path}: channel {record.channel_id} has no description")
                yield RecordedMessage(
                    channel, schemas[channel.schema_id], record.log_time, record.data
                )

    def _records(self, path: Path, file: BinaryIO) -> Iterator[object]:
        source = cast("IO[bytes]", _WholeReads(file))
        reader = StreamReader(
            source,
            skip_magic=True,
            emit_chunks=True,
            validate_crcs=True,
            record_size_limit=_LARGEST,
        )
        try:
            for record in reader.records:
                if isinstance(record, Chunk):
                    yield from breakup_chunk(_decompressed(record), validate_crc=True)
                else:
                    yield record
        except EndOfFile:
            self.damage = f"{path.name} was not finished: it was read to its last whole second"
        except _DAMAGE as error:
            self.damage = f"{path.name} is damaged from byte {file.tell()} on: {error}"


class _WholeReads:
    """A file whose reads return all requested bytes, or raise EndOfFile.

    A length that no recording has is damage: it is not allocated.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def read(self, size: int) -> bytes:
        if size > _LARGEST:
            raise McapError(f"a length of {size} bytes, expected {_LARGEST} at most")
        data = self._file.read(size)
        if len(data) < size:
            raise EndOfFile
        return data


def _decompressed(chunk: Chunk) -> Chunk:
    """Return a chunk without compression. Raises McapError for another size than it states.

    MCAP's own reader decompresses whatever comes: a few bytes may become gigabytes.
    """
    size, data = chunk.uncompressed_size, chunk.data
    if size > _LARGEST:
        raise McapError(f"a chunk of {size} bytes, expected {_LARGEST} at most")
    if chunk.compression == "zstd":
        data = ZstdDecompressor().stream_reader(data).read(size + 1)
    elif chunk.compression == "lz4":
        data = LZ4FrameDecompressor().decompress(data, max_length=size + 1)
    elif chunk.compression:
        raise McapError(f"compression '{chunk.compression}', expected zstd or lz4")
    if len(data) != size:
        raise McapError(f"a chunk that is not the {size} bytes long that it states")
    return replace(chunk, data=data, compression="")


def _opened(path: Path) -> BinaryIO:
    """Return an MCAP file behind its magic bytes. Raises BagError."""
    try:
        file = path.open("rb")
        magic = file.read(len(MCAP0_MAGIC))
    except OSError as error:
        raise BagError(f"{path}: cannot be read: {error.strerror}") from error
    if magic != MCAP0_MAGIC:
        file.close()
        raise BagError(f"{path} is no MCAP file")
    return file


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    # rosbag2 numbers the files of a bag: _0, _1 … _10
    files = sorted(path.glob("*.mcap"), key=lambda file: (len(file.name), file.name))
    if not files:
        raise BagError(f"{path}: no bag there: neither an MCAP file nor a folder with one")
    return files
