"""The files of one trial of the fault campaign, and the time line in its bag."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from rcl_interfaces.msg import Log
from rclpy.serialization import deserialize_message

from humanoid_recording.black_box.messages import EVENTS
from humanoid_recording.reader import BagReader

_PREFIX: Final = "trial."  # of the logger of each line of the time line


@dataclass(frozen=True, slots=True)
class TrialFiles:
    """The names of the files in `folder`."""

    folder: Path

    @property
    def topics(self) -> Path:
        """The bag."""
        return self.folder / "topics"

    @property
    def ring(self) -> Path:
        """The frames of the EtherCAT ring, for Wireshark (pcap)."""
        return self.folder / "ring.pcap"

    @property
    def can(self) -> Path:
        """The frames of the CAN bus, as can-utils' candump writes them."""
        return self.folder / "can.log"


class TrialEventType(StrEnum):
    """The kind of event of a line in the time line."""

    MODE = "mode"  # another one is in force
    FAULT = "fault"  # it is injected
    FALL = "fall"
    SOFT = "soft"  # no joint is stiff any more
    MENDED = "mended"  # the fault ends
    KNOWN = "known"  # a value beyond a general bound, within what the kind allows
    VIOLATION = "violation"

    @property
    def logger(self) -> str:
        """The name of the logger of its lines."""
        return f"{_PREFIX}{self}"


@dataclass(frozen=True, slots=True)
class TrialEvent:
    """One line of the time line."""

    time: float  # [s] since the bag's first message
    event_type: TrialEventType
    text: str

    def __str__(self) -> str:
        return f"{self.time:+9.3f} s  {self.event_type}: {self.text}"


def read_time_line(bag: Path) -> list[TrialEvent]:
    """Return what happened in a trial, in order. Raises BagError if there is no bag."""
    found: list[TrialEvent] = []
    begin: int | None = None
    for recorded in BagReader(bag):
        begin = recorded.time if begin is None else begin
        if recorded.channel.topic == EVENTS:
            line = deserialize_message(recorded.data, Log)
            if line.name.startswith(_PREFIX):
                event_type = TrialEventType(line.name.removeprefix(_PREFIX))
                found.append(TrialEvent((recorded.time - begin) / 1e9, event_type, line.msg))
    return found
