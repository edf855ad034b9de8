"""Tick records as messages on the topics on which they were published, filled into templates."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray
from humanoid_control_msgs.msg import ControlMode, ImpedanceState, MITCommand, SafetyStatus
from rcl_interfaces.msg import Log
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, Header, MultiArrayDimension, MultiArrayLayout, String

from humanoid_control_common.robot.robot_namespace import frame_prefix
from humanoid_control_common.rules.reasons import NO_REASON, Reason
from humanoid_control_common.rules.safety import SafetyLevel
from humanoid_control_common.tick_records.record_layout import EventKind
from humanoid_control_common.tick_records.record_ring import Event, report_of
from humanoid_controller_manager.ros.topics.message_template import MessageTemplate
from humanoid_controller_manager.ros.topics.safety_messages import safety_message
from humanoid_recording.black_box.alarms import event_reason
from humanoid_recording.black_box.tick_records import TickRecords
from humanoid_recording.topics import CONTROL_MODE

SAFETY: Final = "safety_status"
DESCRIPTION: Final = "robot_description"
EVENTS: Final = "/rosout"  # ROS' topic for lines of text, one for all robots of a domain
COUNTERS: Final = "tick_records/counters"
LOGGER: Final = "black_box"  # of the lines with the reasons for the file
KINDS: Final = {
    CONTROL_MODE: ControlMode,
    SAFETY: SafetyStatus,
    DESCRIPTION: String,
    EVENTS: Log,
    COUNTERS: Float64MultiArray,
}
# Topics of other processes that the black box subscribes to.
SUBSCRIBED: Final = {
    "diagnostics": DiagnosticArray,
    "erob_impedance_manager/state": ImpedanceState,
}
LATCHED_TOPICS: Final = frozenset({SAFETY, DESCRIPTION})
_FRAME: Final = "base_link"
_STATEMENTS: Final = 50.0  # [Hz]
TICKS: Final = "loop: ticks"  # since the start; in a file of which nothing was lost, without a gap
EXECUTION: Final = "loop: execution [us]"  # of the tick before
_OWN_COUNTERS: Final = (TICKS, "loop: overruns", EXECUTION)


@dataclass(frozen=True, slots=True)
class BagMessage:
    """One message of the bag."""

    topic: str
    time: int  # [ns], monotonic
    data: bytes  # CDR


def log_line(stamp: int, name: str, level: int, reason: Reason) -> bytes:
    """Return a line for EVENTS, at `stamp` [ns since the epoch]. Field `function`: the codes."""
    codes = " ".join(reason.codes)
    line = Log(stamp=_time(stamp), level=level, name=name, msg=reason.text, function=codes)
    return bytes(serialize_message(line))


def reason_in(line: Log) -> Reason:
    """Return text and codes of a line of `log_line`."""
    return Reason(line.msg, tuple(line.function.split()))


def from_ticks(records: TickRecords) -> Iterator[BagMessage]:
    """Yield states, commands and counters of each tick, and statements at their rate."""
    facts = records.facts
    if not len(records.ticks) or not facts.joints:
        return
    states, commands, counters = _joint_states(records), _commands(records), _Counters(records)
    statements = _Statements(records)
    yield BagMessage(
        DESCRIPTION, records.start, serialize_message(String(data=facts.robot_description))
    )
    for tick in records.ticks:
        time, stamp = int(tick["monotonic"]), int(tick["wall"])
        yield BagMessage(facts.state_topic, time, states.filled(stamp, tick["state"]))
        yield BagMessage(facts.command_topic, time, commands.filled(stamp, tick["command"]))
        yield counters.at(tick)
        yield from statements.at(tick)


def from_events(records: TickRecords) -> Iterator[BagMessage]:
    """Return events as lines of text, and those of safety as what was published.

    The last report of each source before the first tick is yielded at the first tick.
    """
    before: dict[str, Event] = {}
    for event in records.events:
        if event.kind is EventKind.REPORT and event.monotonic < records.start:
            before[report_of(event).source] = event
    for event in before.values():
        yield _safety(records, event, records.start)
    for event in records.events:
        if event.monotonic >= records.start:
            yield _line(records, event)
            if event.kind is EventKind.REPORT:
                yield _safety(records, event, event.monotonic)


class _Statements:
    """Statements of the mode manager: on every change, and at 50 Hz."""

    def __init__(self, records: TickRecords) -> None:
        self._texts = [event for event in records.events if event.kind is EventKind.STATEMENT]
        self._stated = NO_REASON
        self._number = 0  # of the statements that have been reached
        self._every = max(1, round(records.facts.update_rate / _STATEMENTS))
        self._last: tuple[int, int, Reason] | None = None

    def at(self, tick: np.void) -> Iterator[BagMessage]:
        time = int(tick["monotonic"])
        while self._number < len(self._texts) and self._texts[self._number].monotonic <= time:
            event = self._texts[self._number]
            self._stated = Reason(event.text, event.codes)
            self._number += 1
        now = int(tick["mode"]), int(tick["switch_number"]), self._stated
        if now == self._last and int(tick["tick"]) % self._every:
            return
        self._last = now
        message = ControlMode(
            header=Header(stamp=_time(int(tick["wall"]))),
            mode=now[0],
            switch_number=now[1],
            controller_name=tick["controller"].decode(errors="replace"),
            status_message=self._stated.text,
            reason_codes=self._stated.codes,
        )
        yield BagMessage(CONTROL_MODE, time, serialize_message(message))


def _safety(records: TickRecords, event: Event, time: int) -> BagMessage:
    message = safety_message(report_of(event), _time(event.wall))
    return BagMessage(SAFETY, time, serialize_message(message))


def _line(records: TickRecords, event: Event) -> BagMessage:
    reason, level = event_reason(event), Log.INFO
    if event.is_alarm:
        level = Log.ERROR
    elif event.kind is EventKind.REFUSAL or event.level >= SafetyLevel.WARNING:
        level = Log.WARN
    return BagMessage(
        EVENTS, event.monotonic, log_line(event.wall, event.kind.name.lower(), level, reason)
    )


def _joint_states(records: TickRecords) -> MessageTemplate:
    names = list(records.facts.joints)
    zeros = [0.0] * len(names)
    header = _header(records)
    message = JointState(header=header, name=names, position=zeros, velocity=zeros, effort=zeros)
    return MessageTemplate(message, 3, len(names))


def _commands(records: TickRecords) -> MessageTemplate:
    names = list(records.facts.joints)
    zeros = [0.0] * len(names)
    message = MITCommand(header=_header(records), joint_names=names)
    for field in ("position", "velocity", "effort", "stiffness", "damping"):
        setattr(message, field, zeros)
    return MessageTemplate(message, 5, len(names))


def _header(records: TickRecords) -> Header:
    return Header(frame_id=f"{frame_prefix(records.facts.namespace)}{_FRAME}")


class _Counters:
    """Counters in each tick; of the limits, only those that were reached in the records."""

    def __init__(self, records: TickRecords) -> None:
        facts, limited = records.facts, records.ticks["limited"]
        grew = limited[-1] > limited[0]
        self._limited = np.nonzero(grew.ravel())[0]
        every = [f"limited {kind}: {joint}" for kind in facts.limited for joint in facts.joints]
        names = [*_OWN_COUNTERS, *facts.counters, *(every[i] for i in self._limited)]
        dimensions = [MultiArrayDimension(label=name, size=1, stride=1) for name in names]
        layout = MultiArrayLayout(dim=dimensions)
        message = Float64MultiArray(layout=layout, data=[0.0] * len(names))
        self._template = MessageTemplate(message, 1, len(names), stamped=False)

    def at(self, tick: np.void) -> BagMessage:
        own = (float(tick["tick"]), float(tick["overruns"]), tick["execution"] * 1e6)
        limited = tick["limited"].ravel()[self._limited]
        values = np.concatenate([own, tick["counters"], limited])
        return BagMessage(
            COUNTERS, int(tick["monotonic"]), self._template.filled(0, values[None, :])
        )


def _time(stamp: int) -> Time:
    seconds, nanoseconds = divmod(stamp, 1_000_000_000)
    return Time(sec=seconds, nanosec=nanoseconds)
