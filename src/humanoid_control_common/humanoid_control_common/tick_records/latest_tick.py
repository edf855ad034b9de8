"""The mode in force by the latest tick that a control process of this machine has recorded.

It needs neither ROS nor numpy, which take longer to load than everything else that `hc status` does
before its first line.
"""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from humanoid_control_common.errors import RobotError
from humanoid_control_common.memory_file import FOLDER, open_own, process_lives
from humanoid_control_common.robot.robot_namespace import ROOT
from humanoid_control_common.rules.modes import Mode
from humanoid_control_common.tick_records.record_layout import (
    LAYOUT,
    TICK_END,
    TICK_HEAD,
    RecordFacts,
    Word,
)
from humanoid_control_common.tick_records.record_names import files_of_robot

FRESH: Final = 0.2  # [s]; an older tick is that of a loop that stands still, or is paced slowly


@dataclass(frozen=True, slots=True)
class LatestTick:
    """The mode in force of a control loop that runs."""

    mode: Mode
    controller: str  # its name, cut to what a record holds
    switch_number: int


def latest_tick(
    namespace: str = ROOT, folder: Path = FOLDER, clock: Callable[[], float] = time.monotonic
) -> LatestTick | None:
    """Return the latest tick of the robot in `namespace` of this ROS domain.

    None, if no control process of this user on this machine has recorded one within FRESH of
    `clock`, the monotonic time [s].
    """
    for path in reversed(files_of_robot(folder, namespace)):
        with suppress(OSError, RobotError):  # gone again, or not complete yet
            if found := _latest_in(path, clock):
                return found
    return None


def _latest_in(path: Path, clock: Callable[[], float]) -> LatestTick | None:
    descriptor = open_own(path)
    try:
        memory, data = LAYOUT.read(path, descriptor)
    finally:
        os.close(descriptor)
    facts = RecordFacts.from_bytes(data)
    count = LAYOUT.header(memory)[Word.TICKS]
    if not count or not process_lives(facts.pid, facts.process_start, facts.boot_id):
        return None
    begin = LAYOUT.data_at(len(data)) + (count - 1) % facts.tick_slots * facts.tick_size
    head = TICK_HEAD.unpack_from(memory, begin)
    (end,) = TICK_END.unpack_from(memory, begin + facts.tick_size - TICK_END.size)
    first, recorded_at, *_, switch_number, mode, _, _, controller = head
    whole = first == end == count
    if not whole or clock() - recorded_at / 1e9 > FRESH:
        return None
    return LatestTick(Mode(mode), controller.rstrip(b"\0").decode(errors="replace"), switch_number)
