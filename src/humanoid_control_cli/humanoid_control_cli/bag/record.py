"""`hc record`: write the robot's topics into a bag."""

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from rclpy.exceptions import InvalidTopicNameException
from rclpy.validate_full_topic_name import validate_full_topic_name

from humanoid_bringup.supervision.terminal_signals import StopSignals
from humanoid_control_cli.client import Client
from humanoid_control_cli.domain import robot_in_words
from humanoid_control_common.errors import ConfigError
from humanoid_recording.crash_safe_file import BagError
from humanoid_recording.node_recorder import NodeRecorder
from humanoid_recording.recording import Recording
from humanoid_recording.writer import BagWriter

SEARCH_PERIOD: Final = 0.2  # [s] between two searches for new topics


def record(folder: Path, topics: Sequence[str], seconds: float, say: Callable[[str], None]) -> None:
    """Record until a signal comes, `seconds` have passed, or the disk is full.

    Raises ConfigError for a topic that none can have the name of, BagError if nothing or not
    everything was recorded; what was is a bag.
    """
    _check_names(topics)
    with ExitStack() as stack:
        signals = stack.enter_context(StopSignals())
        client = stack.enter_context(Client(seconds))
        bag = stack.enter_context(BagWriter(folder))
        recording = stack.enter_context(Recording(bag))
        recorder = NodeRecorder(client.node, topics, recording, say)
        say(f"listening on {robot_in_words()}, Ctrl-C ends it")
        end = time.monotonic() + seconds

        def over() -> bool:
            done = signals.count > 0 or recording.error is not None
            return done or time.monotonic() >= end

        while not over():
            recorder.subscribe_new()
            client.wait(over, SEARCH_PERIOD)
    _conclude(bag, folder, recording, recorder.lost, say)


def _check_names(topics: Sequence[str]) -> None:
    for topic in topics:
        try:
            validate_full_topic_name(topic)
        except InvalidTopicNameException as error:
            reason = str(error).splitlines()[0].removeprefix("Invalid topic name: ").rstrip(":")
            raise ConfigError(f"--topic '{topic}': {reason}") from error


def _conclude(
    bag: BagWriter, folder: Path, recording: Recording, lost: int, say: Callable[[str], None]
) -> None:
    summary = bag.summary
    if summary.count:
        say(
            f"{folder}: {summary.count} messages on {len(summary.topics)} topics in "
            f"{summary.duration / 1e9:.1f} s, {bag.size / 1e6:.2f} MB"
        )
    if recording.error:
        raise recording.error
    if recording.dropped:
        raise BagError(f"{recording.dropped} messages are missing: the disk is too slow for them")
    if lost:
        raise BagError(
            f"{lost} messages are missing: this program was held up (stopped, a busy machine), or "
            "the network lost them"
        )
    if not summary.count:
        raise BagError(
            f"no message on {robot_in_words()}: no bag was made "
            "(`hc status` shows whether a robot is up)"
        )
