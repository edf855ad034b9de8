"""Files of a run: a bag of all topics, and the frames of all buses."""

from __future__ import annotations

from contextlib import ExitStack, closing
from operator import itemgetter
from typing import Any, Final, Self

import can
from builtin_interfaces.msg import Time
from rcl_interfaces.msg import Log
from rclpy.qos import QoSProfile
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Header

from humanoid_control_common.errors import RobotError
from humanoid_control_common.rules.reasons import Reason
from humanoid_recording.black_box.messages import EVENTS, log_line
from humanoid_recording.definitions import definition, name_of, type_hash
from humanoid_recording.qos_profiles import plain_offers
from humanoid_recording.summary import Topic
from humanoid_recording.trial_files import TrialFiles
from humanoid_recording.writer import BagWriter
from humanoid_stepped.robot import SteppedRobot
from humanoid_stepped.scheduler import NANO
from humanoid_stepped.stepped_machine import EPOCH
from humanoid_twin.can.frame import CanFrame
from humanoid_twin.ethercat.port import Capture

TRUTH: Final = "/twin/joint_states"  # as of `humanoid_twin.truth_node`
TRUTH_PERIOD: Final = 10_000_000  # [ns]
_STACK: Final = "stack."  # before the name of a process; the black box's own lines have none
_LINES: Final = QoSProfile(depth=1000)
_LEVELS: Final = {
    "debug": Log.DEBUG,
    "info": Log.INFO,
    "warning": Log.WARN,
    "error": Log.ERROR,
    "critical": Log.FATAL,
    "fatal": Log.FATAL,
}


class TraceFiles:
    """A context that writes the files of a robot, from its beginning to its end.

    All times are simulated, on the scale of the system's clock: those of the files go on evenly
    when that clock is set. Nothing in the robot changes by it.

    Args:
        robot: the files are of it; it may run already.
        files: their names.

    Raises:
        BagError: the bag exists already, or cannot be made.
        RobotError: another file cannot be written.
    """

    def __init__(self, robot: SteppedRobot, files: TrialFiles) -> None:
        self.files = files
        self._robot = robot
        self._topics: dict[str, tuple[Any, list[QoSProfile]]] = {}  # type and offers, by name
        # Date [ns since 1970], topic and CDR. In order of their dates only at the end: some lines
        # come later than the events in them.
        self._messages: list[tuple[int, str, bytes]] = []
        with ExitStack() as stack:
            self._bag = stack.enter_context(BagWriter(files.topics))
            try:
                self._ring = stack.enter_context(closing(Capture(files.ring)))
                self._can = can.CanutilsLogWriter(files.can)
            except OSError as error:
                raise RobotError(f"cannot write into {files.folder}: {error.strerror}") from error
            stack.callback(self._can.stop)
            self._written = stack.pop_all()

    def __enter__(self) -> Self:
        robot = self._robot
        for name, topic in sorted(robot.bus.topics.items()):
            for publisher in topic.publishers:
                for message in publisher.kept:
                    self._message(name, message.content)
        robot.bus.listeners.append(self._message)
        robot.log.append(self._logged)
        if robot.cable is not None:
            robot.cable.listeners.append(self._ring_frame)
        robot.virtual.listen(self._can_frame)
        self._record_step = robot.virtual.robot.on_step
        robot.virtual.robot.on_step = self._stepped
        return self

    def __exit__(self, *_: object) -> None:
        robot = self._robot
        robot.bus.listeners.remove(self._message)
        robot.log.remove(self._logged)
        if robot.cable is not None:
            robot.cable.listeners.remove(self._ring_frame)
        robot.virtual.robot.on_step = self._record_step
        with self._written:
            for date, name, data in sorted(self._messages, key=itemgetter(0)):
                if name not in self._bag.summary.topics:
                    self._bag.add_topic(self._topic(name))
                self._bag.add(name, data, date, date)

    @property
    def now(self) -> int:
        """The date [ns since 1970]."""
        return self._robot.virtual.robot.now + EPOCH  # see Trace

    def say(
        self,
        name: str,
        level: int,
        reason: Reason,
        date: int | None = None,
        stamp: int | None = None,
    ) -> None:
        """Add a line of text.

        Args:
            name: of its logger.
            level: of `rcl_interfaces.msg.Log`.
            reason: text and codes.
            date: [ns since 1970] its place among the messages; None: now.
            stamp: [ns since 1970] of the line itself; None: its date.
        """
        date = self.now if date is None else date
        self._topics.setdefault(EVENTS, (Log, [_LINES]))
        line = log_line(date if stamp is None else stamp, name, level, reason)
        self._messages.append((date, EVENTS, line))

    def _message(self, name: str, message: Any) -> None:
        if name not in self._topics:
            offers = [it.qos for it in self._robot.bus.topic(name).publishers]
            self._topics[name] = type(message), offers
        self._messages.append((self.now, name, serialize_message(message)))

    def _logged(self, process: str, severity: str, text: str) -> None:
        self.say(f"{_STACK}{process}", _LEVELS[severity], Reason(text))

    def _stepped(self, now: int) -> None:
        """Note a step of the plant to `now` [ns]."""
        self._record_step(now)
        if now % TRUTH_PERIOD:
            return
        plant, date = self._robot.virtual.plant, now + EPOCH
        seconds, nanoseconds = divmod(date, NANO)
        message = JointState(
            header=Header(stamp=Time(sec=seconds, nanosec=nanoseconds)),
            name=list(self._robot.virtual.joints),
            position=plant.position.tolist(),
            velocity=plant.velocity.tolist(),
            effort=plant.torque.tolist(),
        )
        self._topics.setdefault(TRUTH, (JointState, [_LINES]))
        self._messages.append((date, TRUTH, serialize_message(message)))

    def _ring_frame(self, frame: bytes) -> None:
        self._ring.add(self.now, frame)

    def _can_frame(self, bus: str, frame: CanFrame, now: int) -> None:
        self._can.on_message_received(
            can.Message(
                timestamp=(now + EPOCH) / NANO,
                channel=bus,
                arbitration_id=frame.identifier,
                is_extended_id=frame.extended,
                is_remote_frame=frame.requested is not None,
                dlc=frame.length,
                data=frame.data,
            )
        )

    def _topic(self, name: str) -> Topic:
        kind, offers = self._topics[name]
        known = name_of(kind)
        return Topic(name, known, type_hash(known), definition(known), plain_offers(offers))
