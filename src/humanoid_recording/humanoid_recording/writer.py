"""Write a bag as rosbag2 does: a folder with one MCAP file and its metadata.yaml."""

import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Final, Self, cast

from mcap.writer import CompressionType, Writer

from humanoid_recording import summary as rosbag2
from humanoid_recording.crash_safe_file import BagError, CrashSafeFile
from humanoid_recording.summary import Summary, Topic

CHUNK_SIZE: Final = 256 * 1024  # bytes before compression
# Kept free for the rest of the robot, which a full disk harms more than the recording.
ROOM: Final = 100_000_000  # bytes


def free_space(folder: Path) -> int:
    """Return the free space on the disk of an existing folder [bytes]."""
    return shutil.disk_usage(folder).free


class BagWriter:
    """A context that writes a bag. `folder` must not exist; an empty bag is removed again.

    `name` is that of the bag; without it, the folder's. `custom_data` is kept in its metadata.

    Flushed data stay readable whatever happens to this process or to the machine.

    Raises BagError if the bag can't be made.
    """

    def __init__(
        self,
        folder: Path,
        free: Callable[[Path], int] = free_space,
        name: str = "",
        custom_data: Mapping[str, str] | None = None,
    ) -> None:
        self._folder = folder
        self._free = free
        self.summary = Summary(f"{name or folder.name}_0.mcap", custom_data=dict(custom_data or {}))
        try:
            folder.mkdir(parents=True)
            self._file = CrashSafeFile(folder / self.summary.file_name)
        except FileExistsError:
            raise BagError(f"{folder} exists already: choose another name for the bag") from None
        except OSError as error:
            with suppress(OSError):  # so that the name can be used again
                folder.rmdir()
            raise BagError(f"cannot make the bag {folder}: {error.strerror}") from error
        self._channels: dict[str, int] = {}
        self._schemas: dict[str, int] = {}
        output = cast("IO[bytes]", self._file)
        self._writer = Writer(output, CHUNK_SIZE, CompressionType.ZSTD)
        self._writer.start(profile="ros2", library="humanoid_control")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            if self.summary.count and not self._file.broken:
                self._finish()
        finally:
            self._file.close()
            if not self.summary.count:
                shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def size(self) -> int:
        """Bytes written so far."""
        return self._file.size

    def add_topic(self, topic: Topic) -> None:
        """Add a topic."""
        if topic.type_name not in self._schemas:
            text = topic.definition.encode()
            schema = self._writer.register_schema(topic.type_name, "ros2msg", text)
            self._schemas[topic.type_name] = schema
        self._channels[topic.name] = self._writer.register_channel(
            topic.name,
            "cdr",
            self._schemas[topic.type_name],
            {
                "offered_qos_profiles": rosbag2.to_yaml(topic.offers),
                "topic_type_hash": topic.type_hash,
            },
        )
        self.summary.topics[topic.name] = topic

    def add(self, topic: str, data: bytes, arrival: int, publication: int) -> None:
        """Write a message in CDR; times in [ns] since the epoch. Raises BagError."""
        self._writer.add_message(self._channels[topic], arrival, data, publication)
        self.summary.note(topic, arrival)

    def flush(self) -> None:
        """Write everything onto the disk. Raises BagError if it fails or is nearly full."""
        self._writer.flush()  # type: ignore[no-untyped-call]
        try:
            free = self._free(self._folder)
        except OSError as error:  # the folder or the disk was removed
            self._file.broken = True
            raise BagError(f"{self._folder}: {error.strerror}") from error
        if free < ROOM:
            raise BagError(
                f"{self._folder}: only {free / 1e6:.0f} MB are left on the disk, "
                f"of which {ROOM / 1e6:.0f} MB are for other things: the recording ends here"
            )

    def _finish(self) -> None:
        plain: dict[str, Any] = self.summary.to_plain()
        self._writer.add_metadata("rosbag2", {"serialized_metadata": rosbag2.to_yaml(plain)})
        self._writer.finish()  # type: ignore[no-untyped-call]
        self._file.flush()
        text = rosbag2.to_yaml({"rosbag2_bagfile_information": plain})
        path = self._folder / rosbag2.FILE_NAME
        try:
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise BagError(f"{path}: {error.strerror}; the recording beside it is whole") from error
