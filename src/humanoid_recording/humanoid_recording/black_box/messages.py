"""A flight record as the messages that would have been heard, on the topics they belong to."""

from __future__ import annotations

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

from humanoid_control_common.flight_layout import EventKind
from humanoid_control_common.flight_ring import Event, report_of
from humanoid_control_common.safety import SafetyLevel
from humanoid_recording.black_box.alarms import in_words
from humanoid_recording.black_box.flight import Flight
from humanoid_recording.black_box.templates import Template
from humanoid_recording.topics import CONTROL_MODE

SAFETY: Final = "/safety_status"
DESCRIPTION: Final = "/robot_description"
EVENTS: Final = "/rosout"  # where every program looks for lines of text
COUNTERS: Final = "/flight_recorder/counters"
LOGGER: Final = "black_box"  # of the line that says why there is a file
KINDS: Final = {
    CONTROL_MODE: ControlMode,
    SAFETY: SafetyStatus,
    DESCRIPTION: String,
    EVENTS: Log,
    COUNTERS: Float64MultiArray,
}
# What other processes publish, and the black box listens to.
HEARD: Final = {"/diagnostics": DiagnosticArray, "/erob_impedance_manager/state": ImpedanceState}
LATCHED: Final = frozenset({SAFETY, DESCRIPTION})
_FRAME: Final = "base_link"
_STATEMENTS: Final = 50.0  # [Hz]
TICKS: Final = "loop: ticks"  # since the start; in a file of which nothing was lost, without a gap
EXECUTION: Final = "loop: execution [us]"  # of the tick before
_OWN_COUNTERS: Final = (TICKS, "loop: overruns", EXECUTION)


@dataclass(frozen=True, slots=True)
class Said:
    """One message of the record."""

    topic: str
    time: int  # [ns], monotonic
    data: bytes  # CDR


def log_line(stamp: int, name: str, level: int, text: str) -> bytes:
    """A line on EVENTS, at `stamp` [ns since the epoch]."""
    return bytes(serialize_message(Log(stamp=_time(stamp), level=level, name=name, msg=text)))


def from_ticks(flight: Flight) -> Iterator[Said]:
    """What each tick says: states, commands, counters and, at their rate, statements."""
    facts = flight.facts
    if not len(flight.ticks) or not facts.joints:
        return
    states, commands, counters = _joint_states(flight), _commands(flight), _Counters(flight)
    statements = _Statements(flight)
    yield Said(DESCRIPTION, flight.start, serialize_message(String(data=facts.robot_description)))
    for tick in flight.ticks:
        time, stamp = int(tick["monotonic"]), int(tick["wall"])
        yield Said(facts.state_topic, time, states.filled(stamp, tick["state"]))
        yield Said(facts.command_topic, time, commands.filled(stamp, tick["command"]))
        yield counters.at(tick)
        yield from statements.at(tick)


def from_events(flight: Flight) -> Iterator[Said]:
    """Events as lines of text, and those of safety as what was published.

    Reports from before the first tick count: what a source said last is what held then.
    """
    before: dict[str, Event] = {}
    for event in flight.events:
        if event.kind is EventKind.REPORT and event.monotonic < flight.start:
            before[report_of(event).source] = event
    for event in before.values():
        yield _safety(flight, event, flight.start)
    for event in flight.events:
        if event.monotonic >= flight.start:
            yield _line(flight, event)
            if event.kind is EventKind.REPORT:
                yield _safety(flight, event, event.monotonic)


class _Statements:
    """The statements of the mode manager: on every change, and at 50 Hz."""

    def __init__(self, flight: Flight) -> None:
        self._texts = [event for event in flight.events if event.kind is EventKind.STATEMENT]
        self._text = ""
        self._number = 0  # of the statements that have been reached
        self._every = max(1, round(flight.facts.update_rate / _STATEMENTS))
        self._last: tuple[int, int, str] | None = None

    def at(self, tick: np.void) -> Iterator[Said]:
        time = int(tick["monotonic"])
        while self._number < len(self._texts) and self._texts[self._number].monotonic <= time:
            self._text = self._texts[self._number].text
            self._number += 1
        now = int(tick["mode"]), int(tick["switch_number"]), self._text
        if now == self._last and int(tick["tick"]) % self._every:
            return
        self._last = now
        message = ControlMode(
            header=Header(stamp=_time(int(tick["wall"]))),
            mode=now[0],
            switch_number=now[1],
            controller_name=tick["controller"].decode(errors="replace"),
            status_message=self._text,
        )
        yield Said(CONTROL_MODE, time, serialize_message(message))


def _safety(flight: Flight, event: Event, time: int) -> Said:
    report = report_of(event)
    message = SafetyStatus(
        header=Header(stamp=_time(event.wall)),
        level=int(report.level),
        source=report.source,
        flags=int(report.flags),
        message=report.message,
    )
    return Said(SAFETY, time, serialize_message(message))


def _line(flight: Flight, event: Event) -> Said:
    text, level = in_words(event), Log.INFO
    if event.is_alarm:
        level = Log.ERROR
    elif event.kind is EventKind.REFUSAL or event.level >= SafetyLevel.WARNING:
        level = Log.WARN
    return Said(EVENTS, event.monotonic, log_line(event.wall, event.kind.name.lower(), level, text))


def _joint_states(flight: Flight) -> Template:
    names = list(flight.facts.joints)
    zeros = [0.0] * len(names)
    header = Header(frame_id=_FRAME)
    message = JointState(header=header, name=names, position=zeros, velocity=zeros, effort=zeros)
    return Template(message, 3, len(names))


def _commands(flight: Flight) -> Template:
    names = list(flight.facts.joints)
    zeros = [0.0] * len(names)
    message = MITCommand(header=Header(frame_id=_FRAME), joint_names=names)
    for field in ("position", "velocity", "effort", "stiffness", "damping"):
        setattr(message, field, zeros)
    return Template(message, 5, len(names))


class _Counters:
    """What is counted, in each tick; of the limits, only those that were reached meanwhile."""

    def __init__(self, flight: Flight) -> None:
        facts, limited = flight.facts, flight.ticks["limited"]
        grew = limited[-1] > limited[0]
        self._limited = np.nonzero(grew.ravel())[0]
        every = [f"limited {kind}: {joint}" for kind in facts.limited for joint in facts.joints]
        names = [*_OWN_COUNTERS, *facts.counters, *(every[i] for i in self._limited)]
        dimensions = [MultiArrayDimension(label=name, size=1, stride=1) for name in names]
        layout = MultiArrayLayout(dim=dimensions)
        message = Float64MultiArray(layout=layout, data=[0.0] * len(names))
        self._template = Template(message, 1, len(names), stamped=False)

    def at(self, tick: np.void) -> Said:
        own = (float(tick["tick"]), float(tick["overruns"]), tick["execution"] * 1e6)
        limited = tick["limited"].ravel()[self._limited]
        values = np.concatenate([own, tick["counters"], limited])
        return Said(COUNTERS, int(tick["monotonic"]), self._template.filled(0, values[None, :]))


def _time(stamp: int) -> Time:
    seconds, nanoseconds = divmod(stamp, 1_000_000_000)
    return Time(sec=seconds, nanosec=nanoseconds)
