"""One trial on the stepped robot."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from fault_campaign.campaign import Entry
from fault_campaign.judging.black_box_check import Expected, FileCoverage, Flight, kept
from fault_campaign.judging.violation import Violation, ViolationType
from fault_campaign.kinds.kind import Kind
from fault_campaign.robot import BOX, Robot
from fault_campaign.trial import Result, Trial
from humanoid_control_common.rules.reasons import united
from humanoid_recording.black_box.record_monitor import ABSENCE
from humanoid_recording.black_box.tick_records import TickRecords
from humanoid_stepped.scheduler import EndlessLoopError
from humanoid_stepped.stepped_machine import BOOT, EPOCH

LATEST: Final = 25.0  # [s] until a file covers the fault: the black box makes one in 10 s
# [s] After a longer pause the black box reports itself as held up, not the control loop.
_LEAP: Final = ABSENCE + 0.1


def run(robot: Robot, kind: Kind, seed: int) -> Entry:
    """Run one trial on a robot that is healthy."""
    robot.begin(seed)
    try:
        result = Trial(robot, kind, seed).run()
    except EndlessLoopError as error:
        return failed(kind, seed, str(error))
    if robot.sdo_judge is not None:
        violations = result.violations + tuple(robot.sdo_judge.violations)
        result = replace(result, violations=violations)
    if result.expected is None:
        return Entry(result)
    found = _file_of(robot, result.expected)
    if found is None:
        count = len(robot.stepped.black_box_files.kept)
        lost = Violation(ViolationType.LOST, f"no file of the black box tells of it, of {count}")
        return Entry(result, None, (lost,))
    missing = tuple(Violation(ViolationType.LOST, text) for text in found.missing)
    return Entry(result, found, missing)


def failed(kind: Kind, seed: int, text: str) -> Entry:
    """Return the result of a trial that could not be brought to its end."""
    wrong = (Violation(ViolationType.NOT_WELL, text),)
    return Entry(Result.failed(kind, seed, wrong))


def _file_of(robot: Robot, expected: Expected) -> FileCoverage | None:
    """Return the record of the trial in the black box; None: no file has it.

    The black box waits until a file covers two seconds after a fault, and ten seconds between two
    files. All other processes stand still in this time: nothing else is judged.
    """
    found: list[FileCoverage | None] = []  # record of the trial in each file

    def told() -> bool:
        for file in robot.stepped.black_box_files.kept[len(found) :]:
            reasons = united(it.codes for it in file.reasons)
            found.append(kept(_flight(file.records, reasons), expected))
        return any(found)

    robot.stepped.scheduler.run_alone(BOX, _LEAP, told, LATEST)
    return next(filter(None, found), None)


def _date(monotonic: int) -> float:
    """Return the time [s since 1970] of a monotonic time [ns]."""
    return (monotonic - BOOT + EPOCH) / 1e9


def _flight(ticks: TickRecords, reasons: tuple[str, ...]) -> Flight:
    """Return the content of a file for the judge."""
    times = [_date(int(time)) for time in ticks.ticks["monotonic"]]
    numbers = ticks.ticks["tick"].tolist()
    pairs = zip(times, times[1:], numbers, numbers[1:], strict=False)
    gaps = tuple((begin, end - begin) for begin, end, one, two in pairs if two != one + 1)
    alarms = tuple((_date(it.monotonic), it.text, it.codes) for it in ticks.events if it.is_alarm)
    begin, end = (times[0], times[-1]) if times else (0.0, 0.0)
    return Flight(begin, end, reasons, alarms, gaps)
