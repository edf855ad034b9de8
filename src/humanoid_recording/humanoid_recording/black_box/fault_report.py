"""The report of a fault: the events in order, counters that changed, and outstanding joints."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree

import numpy as np
from humanoid_control_msgs.msg import MITCommand
from numpy.typing import NDArray
from rcl_interfaces.msg import Log
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState

from humanoid_control_common.robot.joints import FloatArray
from humanoid_control_common.rules.reasons import Reason
from humanoid_recording.black_box.joint_outliers import JointOutlier, Motion, joint_outliers
from humanoid_recording.black_box.messages import (
    COUNTERS,
    DESCRIPTION,
    EVENTS,
    EXECUTION,
    KINDS,
    LOGGER,
    reason_in,
)
from humanoid_recording.crash_safe_file import BagError
from humanoid_recording.definitions import (
    ChangedTypeError,
    UnknownTypeError,
    name_of,
    recorded_class,
)
from humanoid_recording.reader import BagReader, RecordedMessage
from humanoid_recording.topics import JOINT_COMMANDS, JOINT_STATES, split_topic

_OFTEN: Final = 0.5  # of all ticks; a counter that grows so often counts traffic, not faults
# CiA 402: the bits of a statusword with the drive's state and a warning; others change in motion.
_STATE: Final = 0x00EF
_WORD: Final = "statusword of "
_STATES: Final = ("working counter",)  # counters of which every change is reported
_MOST: Final = 8  # changes of one counter that are reported

Counted = Sequence[tuple[int, Any]]  # (time [ns], Float64MultiArray with labels)

_READ: Final = (JOINT_STATES, JOINT_COMMANDS, COUNTERS, DESCRIPTION)
_KINDS: Final = KINDS | {JOINT_STATES: JointState, JOINT_COMMANDS: MITCommand}
# Errors of messages that do not fit together: the black box writes no such ones.
_MISFITS: Final = (ValueError, IndexError, ElementTree.ParseError)


@dataclass(frozen=True, slots=True)
class FaultEvent:
    """An event at `time` [s] after the fault, or before it if negative."""

    time: float
    text: str
    alarm: bool = False
    codes: tuple[str, ...] = ()  # reason codes


@dataclass(frozen=True, slots=True)
class FaultReport:
    """The content of one file. Without a fault (saved, killed) times count from its end."""

    fault: float  # [s] since the epoch
    reasons: tuple[Reason, ...]
    before: float  # [s] of the file before the fault
    after: float  # [s]
    events: tuple[FaultEvent, ...]
    joints: tuple[JointOutlier, ...]  # in the second before
    damage: str = ""  # of the file


@dataclass(slots=True)
class _Bag:
    """The messages of a bag; times in [ns]."""

    logs: list[tuple[int, Any]] = field(default_factory=list)
    times: list[int] = field(default_factory=list)
    states: list[Any] = field(default_factory=list)
    commands: list[Any] = field(default_factory=list)
    counters: list[tuple[int, Any]] = field(default_factory=list)
    urdf: str = ""
    end: int = 0  # of the last message; 0: there is none


def read_fault_report(path: Path) -> FaultReport:
    """Read a file of the black box.

    Raises BagError for a file that is no bag, of which nothing can be read, or that the black box
    of this version has not written.
    """
    reader = BagReader(path)
    bag = _read(path, reader)
    if not bag.end:
        raise BagError(f"{path}: nothing in it can be read. {reader.damage}".rstrip(". "))
    reasons, fault = _reasons(bag)
    if not (reasons or bag.counters):
        raise BagError(
            f"{path} is no file of the black box, but another recording: `hc replay {path}` plays "
            "it, `hc blackbox list` names the files of the black box"
        )
    begin, end = (bag.times[0], bag.times[-1]) if bag.times else (fault, fault)
    try:
        events = [*_log_events(bag, fault), *_counter_events(bag, fault)]
        joints = joint_outliers(_motion(bag), fault) if bag.states else ()
    except _MISFITS as error:
        raise BagError(f"{path} is no file of the black box: {error}") from error
    return FaultReport(
        fault=fault / 1e9,
        reasons=reasons,
        before=(fault - begin) / 1e9,
        after=(end - fault) / 1e9,
        events=tuple(sorted(events, key=lambda event: event.time)),
        joints=joints,
        damage=reader.damage,
    )


def read_reasons(path: Path) -> tuple[tuple[Reason, ...], float]:
    """Return the reasons for a file, and their time [s since the epoch]. Raises BagError."""
    bag, decoder = _Bag(), _Decoder(path)
    for recorded in BagReader(path):
        bag.end = recorded.time
        if recorded.channel.topic == EVENTS:
            bag.logs.append((recorded.time, decoder.message(recorded, EVENTS)))
    reasons, fault = _reasons(bag)
    return reasons, fault / 1e9


def _reasons(bag: _Bag) -> tuple[tuple[Reason, ...], int]:
    """Return the reasons, and the time of the first, or the end of a damaged file [ns]."""
    own = [log for _, log in bag.logs if log.name == LOGGER]
    noted = [log.stamp.sec * 1_000_000_000 + log.stamp.nanosec for log in own]
    return tuple(map(reason_in, own)), min(noted, default=bag.end)


class _Decoder:
    """Decodes messages of the types that the black box of this version writes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._classes: dict[tuple[str, bytes], Any] = {}  # by type and definition

    def message(self, recorded: RecordedMessage, topic: str) -> Any:
        """Return a message of `topic`, a relative name. Raises BagError for another type."""
        key = recorded.schema.name, recorded.schema.data
        if key not in self._classes:
            self._classes[key] = self._checked_class(recorded, name_of(_KINDS[topic]))
        return deserialize_message(recorded.data, self._classes[key])

    def _checked_class(self, recorded: RecordedMessage, expected: str) -> Any:
        where, found = f"{self._path}: {recorded.channel.topic}", recorded.schema.name
        if found != expected:
            raise BagError(f"{where} is {found}, expected {expected}: no file of the black box")
        try:
            return recorded_class(found, recorded.schema.data)
        except UnknownTypeError as error:
            raise BagError(f"{where}: {error}") from error
        except ChangedTypeError as error:
            raise BagError(
                f"{where}: {error}: show the file with the version of the workspace that wrote it"
            ) from error


def _read(path: Path, reader: BagReader) -> _Bag:
    bag, decoder = _Bag(), _Decoder(path)
    for recorded in reader:
        bag.end = recorded.time
        known = split_topic(recorded.channel.topic, _READ)
        topic = known[1] if known else recorded.channel.topic
        if known is None and topic != EVENTS:
            continue
        message = decoder.message(recorded, topic)
        if topic == JOINT_STATES:
            bag.states.append(message)
            bag.times.append(recorded.time)
        elif topic == JOINT_COMMANDS:
            bag.commands.append(message)
        elif topic == EVENTS:
            bag.logs.append((recorded.time, message))
        elif topic == COUNTERS:
            bag.counters.append((recorded.time, message))
        else:
            bag.urdf = message.data
    return bag


def _log_events(bag: _Bag, fault: int) -> Iterator[FaultEvent]:
    for time, log in bag.logs:
        if log.name != LOGGER:
            alarm = log.level >= Log.ERROR
            reason = reason_in(log)
            text = f"{log.name}: {reason}"
            yield FaultEvent((time - fault) / 1e9, text, alarm, reason.codes)


def _counter_events(bag: _Bag, fault: int) -> Iterator[FaultEvent]:
    for time, text in remarks(bag.counters, fault):
        yield FaultEvent((time - fault) / 1e9, text)


def _motion(bag: _Bag) -> Motion:
    count = min(len(bag.states), len(bag.commands))
    names = tuple(bag.states[0].name)
    velocity, effort = _limits(bag.urdf, names)
    return Motion(
        names=names,
        times=np.array(bag.times[:count]),
        position=_rows(bag.states[:count], "position"),
        velocity=_rows(bag.states[:count], "velocity"),
        effort=_rows(bag.states[:count], "effort"),
        target=_rows(bag.commands[:count], "position"),
        stiffness=_rows(bag.commands[:count], "stiffness"),
        velocity_limit=velocity,
        effort_limit=effort,
    )


def _rows(messages: Sequence[Any], field_name: str) -> FloatArray:
    return np.array([getattr(message, field_name) for message in messages])


def _limits(urdf: str, names: Sequence[str]) -> tuple[FloatArray, FloatArray]:
    """Return limits of velocity [rad/s] and effort [Nm] of each joint; infinite without a limit."""
    found: dict[str, Mapping[str, str]] = {}
    if urdf:
        for joint in ElementTree.fromstring(urdf).iter("joint"):
            limit = joint.find("limit")
            if limit is not None:
                found[joint.get("name", "")] = limit.attrib
    velocity, effort = (
        np.array([float(found.get(name, {}).get(key, "inf")) for name in names])
        for key in ("velocity", "effort")
    )
    return velocity, effort


def remarks(counted: Counted, fault: int) -> Iterator[tuple[int, str]]:
    """Yield time [ns] and text of the changes of counters that seldom change; `fault` [ns]."""
    if len(counted) < 2:
        return
    times = np.array([time for time, _ in counted])
    values = np.array([message.data for _, message in counted])
    for i, dimension in enumerate(counted[0][1].layout.dim):
        name, column = dimension.label, values[:, i]
        if _WORD in name:
            yield from _changes(times, column.astype(int), name, "0x{:04X}", _STATE)
        elif name.endswith(_STATES):
            yield from _changes(times, column.astype(int), name, "{}")
        elif name != EXECUTION:
            yield from _growth(times, column, name, fault)


def _changes(
    times: NDArray[np.int64], column: NDArray[np.int64], name: str, form: str, bits: int = -1
) -> Iterator[tuple[int, str]]:
    """Yield the changes of `bits` of a column, with its whole values."""
    places = np.nonzero(np.diff(column & bits))[0]
    for place in places[:_MOST]:
        before, after = (form.format(column[place + k]) for k in (0, 1))
        yield int(times[place + 1]), f"{name}: {before} -> {after}"
    if len(places) > _MOST:
        yield int(times[places[_MOST] + 1]), f"{name}: {len(places) - _MOST} more changes"


def _growth(
    times: NDArray[np.int64], column: FloatArray, name: str, fault: int
) -> Iterator[tuple[int, str]]:
    steps = np.nonzero(np.diff(column) > 0)[0]
    often = len(steps) > _OFTEN * len(column) and not name.startswith("limited")
    if not len(steps) or often:
        return
    amount = sum(max(0.0, after - before) for before, after in pairwise(column))
    last = (times[steps[-1] + 1] - fault) / 1e9
    text = f"{amount:g} times until {last:+.2f} s" if amount > 1 else "once"
    yield int(times[steps[0] + 1]), f"counted: {name}: {text}"
