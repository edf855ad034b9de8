"""One trial on the stepped robot: the same trial, judge and kinds as in wall time."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from fault_campaign.campaign import Entry
from fault_campaign.judging.black_box_check import Expected, Kept, kept
from fault_campaign.judging.fault_files import Flight
from fault_campaign.judging.violation import Breach, Violation
from fault_campaign.kinds.kind import Kind
from fault_campaign.simplification import AS_DRAWN, Simplification
from fault_campaign.stepped.robot import SimulatedRobot
from fault_campaign.trial import Result, Trial
from humanoid_control_common.reasons import united
from humanoid_recording.black_box.tick_records import TickRecords
from humanoid_stepped import records
from humanoid_stepped.participant import LOOK
from humanoid_stepped.scheduler import EndlessLoopError
from humanoid_stepped.stepped_machine import BOOT, EPOCH

LATEST: Final = 25.0  # [s] until a file covers the fault: the black box makes one in 10 s


def run(robot: SimulatedRobot, kind: Kind, seed: int, simpler: Simplification = AS_DRAWN) -> Entry:
    """Run one trial on a robot that is healthy."""
    robot.begin(seed)
    try:
        result = Trial(robot, kind, seed, simpler).run()
    except EndlessLoopError as error:
        return failed(kind, seed, str(error))
    result = replace(result, violations=result.violations + tuple(robot.sdo_judge.violations))
    files = robot.stepped.black_box_files.kept
    if result.expected is None:
        return Entry(result, (), 0.0)
    found = _file_of(robot, files, result.expected)
    if found is None:
        lost = Violation(Breach.LOST, f"no file of the black box tells of it, of {len(files)}")
        return Entry(result, (), 0.0, None, (lost,))
    missing = tuple(Violation(Breach.LOST, text) for text in found.missing)
    return Entry(result, (), 0.0, found, missing)


def failed(kind: Kind, seed: int, text: str) -> Entry:
    """Return a trial that could not be brought to its end."""
    wrong = (Violation(Breach.NOT_WELL, text),)
    return Entry(Result(seed, kind.name, "", "", "", None, wrong, 0.0, 0.0, None, 0.0), (), 0.0)


def _file_of(robot: SimulatedRobot, files: list[records.Kept], expected: Expected) -> Kept | None:
    looked, end = 0, robot.machine.clock() + LATEST
    while True:
        for file in files[looked:]:
            found = kept(_flight(file.records, united(it.codes for it in file.reasons)), expected)
            if found is not None:
                return found
        looked = len(files)
        if robot.machine.clock() > end:
            return None
        robot.machine.sleep(10 * LOOK)


def _date(monotonic: int) -> float:
    """Return the time [s since 1970] of a monotonic time [ns]."""
    return (monotonic - BOOT + EPOCH) / 1e9


def _flight(ticks: TickRecords, reasons: tuple[str, ...]) -> Flight:
    """Return what the judge wants to know of a file."""
    times = [_date(int(time)) for time in ticks.ticks["monotonic"]]
    numbers = ticks.ticks["tick"].tolist()
    pairs = zip(times, times[1:], numbers, numbers[1:], strict=False)
    gaps = tuple((begin, end - begin) for begin, end, one, two in pairs if two != one + 1)
    alarms = tuple((_date(it.monotonic), it.text, it.codes) for it in ticks.events if it.is_alarm)
    begin, end = (times[0], times[-1]) if times else (0.0, 0.0)
    return Flight(begin, end, reasons, alarms, gaps)
