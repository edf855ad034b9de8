"""Read a file of the black box as `hc blackbox show` does, and find lost ticks.

`python -m fault_campaign.judging.fault_files FOLDER` prints the content as JSON. Reading takes a
second of processor time, which must not delay the program that commands the robot.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from rclpy.serialization import deserialize_message
from std_msgs.msg import Float64MultiArray

from humanoid_control_common.rules.reasons import united
from humanoid_recording.black_box.fault_report import read_fault_report
from humanoid_recording.black_box.messages import COUNTERS, TICKS
from humanoid_recording.crash_safe_file import BagError
from humanoid_recording.reader import BagReader
from humanoid_recording.topics import JOINT_STATES


@dataclass(frozen=True, slots=True)
class Flight:
    """Content of one file. Times in [s] since the epoch."""

    begin: float  # of the ticks
    end: float
    reasons: tuple[str, ...]  # reason codes of the file
    alarms: tuple[tuple[float, str, tuple[str, ...]], ...]  # time, text and reason codes
    gaps: tuple[tuple[float, float], ...]  # missing ticks: time and length
    problem: str = ""  # why the file cannot be read


def examine(folder: Path) -> Flight:
    """Read a file. Raises BagError for an invalid one."""
    story = read_fault_report(folder)
    times, counters = _ticks(folder)
    problem = story.damage
    if len(times) != len(counters):
        problem = f"{len(times)} joint states, {len(counters)} counters"
    alarms = [(story.fault + it.time, it.text, it.codes) for it in story.events if it.alarm]
    gaps = () if problem else _gaps(times, [_tick(data) for data in counters])
    begin, end = story.fault - story.before, story.fault + story.after
    reasons = united(it.codes for it in story.reasons)
    return Flight(begin, end, reasons, tuple(alarms), gaps, problem)


def from_json(text: str) -> Flight:
    """Parse the output of `main`."""
    plain: dict[str, Any] = json.loads(text)
    plain["gaps"] = tuple(map(tuple, plain["gaps"]))
    plain["alarms"] = tuple((at, message, tuple(codes)) for at, message, codes in plain["alarms"])
    return Flight(**plain | {"reasons": tuple(plain["reasons"])})


def _ticks(folder: Path) -> tuple[list[int], list[bytes]]:
    """Return the time of each tick [ns], and its counters."""
    times, counters = [], []
    for recorded in BagReader(folder):
        if recorded.channel.topic == f"/{JOINT_STATES}":
            times.append(recorded.time)
        elif recorded.channel.topic == f"/{COUNTERS}":
            counters.append(recorded.data)
    return times, counters


def _gaps(times: list[int], ticks: list[int]) -> tuple[tuple[float, float], ...]:
    both = zip(pairwise(times), pairwise(ticks), strict=True)
    return tuple(
        (begin / 1e9, (end - begin) / 1e9)
        for (begin, end), (before, after) in both
        if after != before + 1
    )


def _tick(data: bytes) -> int:
    message = deserialize_message(data, Float64MultiArray)
    labels = [dimension.label for dimension in message.layout.dim]
    return int(message.data[labels.index(TICKS)])


def main(folder: Path) -> None:
    """Print the content of the file."""
    try:
        flight = examine(folder)
    except BagError as error:
        flight = Flight(0.0, 0.0, (), (), (), str(error))
    sys.stdout.write(json.dumps(asdict(flight)))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
