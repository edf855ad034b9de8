"""Writes a flight record, and what the black box heard beside it, as a bag."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

from humanoid_control_msgs.msg import MITCommand
from rcl_interfaces.msg import Log
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState

from humanoid_recording.black_box.flight import Flight
from humanoid_recording.black_box.messages import (
    EVENTS,
    HEARD,
    KINDS,
    LATCHED,
    LOGGER,
    Said,
    from_events,
    from_ticks,
    log_line,
)
from humanoid_recording.black_box.origin import Origin
from humanoid_recording.definitions import definition, type_hash
from humanoid_recording.offers import to_plain
from humanoid_recording.summary import Topic
from humanoid_recording.writer import BagWriter

_VOLATILE: Final = QoSProfile(depth=10)
_KEPT: Final = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


def write_flight(
    folder: Path,
    name: str,
    flight: Flight,
    reasons: Iterable[str],
    heard: Iterable[Said] = (),
    *,
    fault: int | None = None,
) -> int:
    """Make the bag `folder`, called `name`. Returns the number of its messages.

    `reasons` say why, since `fault` [ns, monotonic], or the end of the flight; `heard` are
    messages of other processes (of topics in `HEARD`), oldest first.

    Raises BagError if the disk takes no more.
    """
    origin = Origin(flight.facts.domain, flight.facts.backend)
    with BagWriter(folder, name=name, custom_data=origin.to_custom_data()) as bag:
        for said in _in_order(flight, heard, reasons, fault):
            if said.topic not in bag.summary.topics:
                bag.add_topic(_topic(said.topic, flight))
            time = flight.wall(said.time)
            bag.add(said.topic, said.data, time, time)
        return bag.summary.count


def _in_order(
    flight: Flight, heard: Iterable[Said], reasons: Iterable[str], fault: int | None
) -> Iterator[Said]:
    events = sorted(from_events(flight), key=attrgetter("time"))
    own = [said for said in heard if said.time >= flight.start]
    yield from heapq.merge(from_ticks(flight), events, own, key=attrgetter("time"))
    end = _end(flight, own)
    # These lines are the last; their stamps say when it was.
    stamp = flight.wall(end if fault is None else fault)
    for reason in reasons:
        yield Said(EVENTS, end, log_line(stamp, LOGGER, Log.ERROR, reason))


def _end(flight: Flight, heard: list[Said]) -> int:
    times = [event.monotonic for event in flight.events] + [said.time for said in heard]
    times += [int(time) for time in flight.ticks["monotonic"][-1:]]
    return max(times, default=0)


def _topic(name: str, flight: Flight) -> Topic:
    kinds = (
        KINDS
        | HEARD
        | {flight.facts.state_topic: JointState, flight.facts.command_topic: MITCommand}
    )
    kind = type_name(kinds[name])
    offer = _KEPT if name in LATCHED else _VOLATILE
    return Topic(name, kind, type_hash(kind), definition(kind), to_plain([offer]))


def type_name(kind: Any) -> str:
    """The full name of a message's class."""
    return f"{kind.__module__.partition('.')[0]}/msg/{kind.__name__}"
