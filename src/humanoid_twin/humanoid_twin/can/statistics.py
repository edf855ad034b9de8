"""How much there was to do on the bus."""

from dataclasses import dataclass
from typing import TypedDict


class CanStatistics(TypedDict):
    """Counts since the start; the load between two calls is Δbusy / Δtime."""

    time: float  # [s]
    busy: float  # [s] that the bus was not idle, intermissions included
    frames: int  # that got through
    error_frames: int  # attempts destroyed on the wire
    unacknowledged: int  # attempts that nobody acknowledged
    lost: int  # frames lost in the receivers' buffers
    adapter_state: str
    adapter_tec: int
    adapter_rec: int
    adapter_waiting: int  # frames in the adapter's queue


@dataclass(slots=True)
class Counters:
    """What the bus counts."""

    busy: int = 0  # [ns]
    frames: int = 0
    error_frames: int = 0
    unacknowledged: int = 0
    lost: int = 0
