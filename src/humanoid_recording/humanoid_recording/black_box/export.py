"""Write tick records and the messages of other processes as a bag."""

import heapq
from collections.abc import Iterable, Iterator
from operator import attrgetter
from pathlib import Path
from typing import Final

from humanoid_control_msgs.msg import MITCommand
from rcl_interfaces.msg import Log
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState

from humanoid_control_common.middleware.qos_profiles import LATCHED
from humanoid_control_common.robot.robot_namespace import absolute
from humanoid_control_common.rules.reasons import Reason
from humanoid_recording.black_box.messages import (
    EVENTS,
    KINDS,
    LATCHED_TOPICS,
    LOGGER,
    SUBSCRIBED,
    BagMessage,
    from_events,
    from_ticks,
    log_line,
)
from humanoid_recording.black_box.origin import Origin
from humanoid_recording.black_box.tick_records import TickRecords
from humanoid_recording.definitions import definition, name_of, type_hash
from humanoid_recording.qos_profiles import plain_offers
from humanoid_recording.summary import Topic
from humanoid_recording.writer import BagWriter

_VOLATILE: Final = QoSProfile(depth=10)


def write_bag(
    folder: Path,
    name: str,
    records: TickRecords,
    reasons: Iterable[Reason],
    received: Iterable[BagMessage] = (),
    *,
    fault: int | None = None,
) -> int:
    """Write the bag `folder` with the name `name`. Return the number of its messages.

    `reasons` are stamped with `fault` [ns, monotonic], or the end of the records; `received` are
    messages of other processes (of topics in `SUBSCRIBED`), oldest first.

    Raises BagError if the disk is full.
    """
    facts = records.facts
    origin = Origin(facts.domain, facts.backend, facts.namespace)
    with BagWriter(folder, name=name, custom_data=origin.to_custom_data()) as bag:
        for message in _in_order(records, received, reasons, fault):
            name = absolute(records.facts.namespace, message.topic)
            if name not in bag.summary.topics:
                bag.add_topic(_topic(name, message.topic, records))
            time = records.wall(message.time)
            bag.add(name, message.data, time, time)
        return bag.summary.count


def _in_order(
    records: TickRecords,
    received: Iterable[BagMessage],
    reasons: Iterable[Reason],
    fault: int | None,
) -> Iterator[BagMessage]:
    events = sorted(from_events(records), key=attrgetter("time"))
    own = [message for message in received if message.time >= records.start]
    yield from heapq.merge(from_ticks(records), events, own, key=attrgetter("time"))
    end = _end(records, own)
    # These lines are the last ones; their stamps are the time of the fault.
    stamp = records.wall(end if fault is None else fault)
    for reason in reasons:
        yield BagMessage(EVENTS, end, log_line(stamp, LOGGER, Log.ERROR, reason))


def _end(records: TickRecords, received: list[BagMessage]) -> int:
    times = [event.monotonic for event in records.events] + [message.time for message in received]
    times += [int(time) for time in records.ticks["monotonic"][-1:]]
    return max(times, default=0)


def _topic(name: str, relative: str, records: TickRecords) -> Topic:
    kinds = (
        KINDS
        | SUBSCRIBED
        | {records.facts.state_topic: JointState, records.facts.command_topic: MITCommand}
    )
    kind = name_of(kinds[relative])
    offer = LATCHED if relative in LATCHED_TOPICS else _VOLATILE
    return Topic(name, kind, type_hash(kind), definition(kind), plain_offers([offer]))
