"""What led to a fault: a file of the black box as moments and joints, for people to read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree

import numpy as np
from rcl_interfaces.msg import Log
from rclpy.serialization import deserialize_message

from humanoid_control_common.joints import FloatArray
from humanoid_recording.black_box.messages import (
    COUNTERS,
    DESCRIPTION,
    EVENTS,
    KINDS,
    LOGGER,
)
from humanoid_recording.black_box.numbers import remarks
from humanoid_recording.black_box.standing_out import Motion, StandsOut, standing_out
from humanoid_recording.definitions import message_class
from humanoid_recording.reader import BagReader
from humanoid_recording.topics import JOINT_STATES

COMMANDS: Final = "/prime/joint_commands"


@dataclass(frozen=True, slots=True)
class Moment:
    """Something that happened `time` [s] after the fault, or before it if negative."""

    time: float
    text: str
    alarm: bool = False


@dataclass(frozen=True, slots=True)
class Story:
    """One file. Without a fault (it was asked for, the process was killed) its end counts."""

    fault: float  # [s] since the epoch
    reasons: tuple[str, ...]
    before: float  # [s] of the file before the fault
    after: float  # [s]
    moments: tuple[Moment, ...]
    joints: tuple[StandsOut, ...]  # in the second before
    damage: str = ""  # of the file


@dataclass(slots=True)
class _Bag:
    """What is read of a bag; times in [ns]."""

    logs: list[tuple[int, Any]] = field(default_factory=list)
    times: list[int] = field(default_factory=list)
    states: list[Any] = field(default_factory=list)
    commands: list[Any] = field(default_factory=list)
    counters: list[tuple[int, Any]] = field(default_factory=list)
    urdf: str = ""


def read_story(path: Path) -> Story:
    """Read a file of the black box. Raises BagError for what isn't one."""
    reader = BagReader(path)
    bag = _read(reader)
    reasons, fault = _why(bag)
    begin, end = (bag.times[0], bag.times[-1]) if bag.times else (fault, fault)
    moments = sorted([*_told(bag, fault), *_numbers(bag, fault)], key=lambda moment: moment.time)
    return Story(
        fault=fault / 1e9,
        reasons=reasons,
        before=(fault - begin) / 1e9,
        after=(end - fault) / 1e9,
        moments=tuple(moments),
        joints=standing_out(_motion(bag), fault) if bag.states else (),
        damage=reader.damage,
    )


def read_reasons(path: Path) -> tuple[tuple[str, ...], float]:
    """Why there is a file, and when that was [s since the epoch]. Raises BagError."""
    bag = _Bag()
    for recorded in BagReader(path):
        if recorded.channel.topic == EVENTS:
            bag.logs.append((recorded.time, deserialize_message(recorded.data, Log)))
    reasons, fault = _why(bag)
    return reasons, fault / 1e9


def _why(bag: _Bag) -> tuple[tuple[str, ...], int]:
    """The reasons, and when the first of them was noted, or the end of a damaged file [ns]."""
    own = [log for _, log in bag.logs if log.name == LOGGER]
    noted = [log.stamp.sec * 1_000_000_000 + log.stamp.nanosec for log in own]
    end = max((time for time, _ in bag.logs), default=0)
    return tuple(log.msg for log in own), min(noted, default=end)


def _read(reader: BagReader) -> _Bag:
    bag = _Bag()
    for recorded in reader:
        topic, data = recorded.channel.topic, recorded.data
        if topic in {JOINT_STATES, COMMANDS}:
            message = deserialize_message(data, message_class(recorded.schema.name))
            (bag.states if topic == JOINT_STATES else bag.commands).append(message)
            if topic == JOINT_STATES:
                bag.times.append(recorded.time)
        elif topic == EVENTS:
            bag.logs.append((recorded.time, deserialize_message(data, Log)))
        elif topic == COUNTERS:
            bag.counters.append((recorded.time, deserialize_message(data, KINDS[COUNTERS])))
        elif topic == DESCRIPTION:
            bag.urdf = deserialize_message(data, KINDS[DESCRIPTION]).data
    return bag


def _told(bag: _Bag, fault: int) -> Iterator[Moment]:
    for time, log in bag.logs:
        if log.name != LOGGER:
            alarm = log.level >= Log.ERROR
            yield Moment((time - fault) / 1e9, f"{log.name}: {log.msg}", alarm)


def _numbers(bag: _Bag, fault: int) -> Iterator[Moment]:
    for time, text in remarks(bag.counters, fault):
        yield Moment((time - fault) / 1e9, text)


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
    """Velocity [rad/s] and effort [Nm] of each joint; infinite where it isn't told."""
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
