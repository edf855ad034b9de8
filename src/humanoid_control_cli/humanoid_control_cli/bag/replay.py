"""`hc replay`: publish a bag again, at the rate at which it was recorded."""

import math
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rclpy.node import Node

from humanoid_bringup.supervision.terminal_signals import StopSignals
from humanoid_control_cli.client import Client
from humanoid_control_cli.domain import robot_in_words, robot_namespace
from humanoid_control_cli.errors import RefusedError
from humanoid_control_common.robot.domain_lock import take_domain_lock
from humanoid_recording.crash_safe_file import BagError
from humanoid_recording.node_player import NodePlayer
from humanoid_recording.reader import BagReader
from humanoid_recording.topics import JOINT_STATES

DISCOVERY: Final = 2.0  # [s] after which a robot that is up has been discovered
WATCH_PERIOD: Final = 0.25  # [s] between two searches for a robot that comes up
SHORTEST: Final = 0.25  # [s] from one beginning to the next, with `loop`


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a replay."""

    path: Path  # of the bag
    rate: float = 1.0  # recorded seconds per second
    loop: bool = False
    stay: bool = False  # after the end, for listeners to latched topics that come later
    until: float = math.inf  # [s] from the beginning of the bag, where it ends


def replay(options: Options, say: Callable[[str], None]) -> None:
    """Replay until the end or a signal.

    Raises RefusedError or ConfigError if a robot is up or comes up, BagError if there is nothing
    to replay.
    """
    bag = BagReader(options.path)
    with ExitStack() as stack:
        signals = stack.enter_context(StopSignals())
        # The lock keeps robots of this machine away meanwhile; discovery finds those of others.
        stack.enter_context(take_domain_lock(namespace=robot_namespace()))
        client = stack.enter_context(Client(DISCOVERY))
        Replay(options, client, lambda: signals.count > 0).run(bag, say)


class Replay:
    """One replay, published by the node of `client` until `stopped`."""

    def __init__(self, options: Options, client: Client, stopped: Callable[[], bool]) -> None:
        self._options = options
        self._client = client
        self._stopped = stopped
        self._searched = -math.inf  # for a robot [s], monotonic

    def run(self, bag: BagReader, say: Callable[[str], None]) -> None:
        """See `replay`."""
        self._rest_until(time.monotonic() + DISCOVERY)
        player = NodePlayer(self._client.node, say)
        again = True
        while again:
            begin = time.monotonic()
            self._play(bag, player)
            if not player.count and not self._stopped():
                raise BagError(f"{self._options.path}: nothing in it to replay")
            again = self._options.loop and not self._stopped()
            if again:  # a bag of a moment would flood its topics
                self._rest_until(begin + SHORTEST)
        end = "" if self._options.until == math.inf else f" until {self._options.until:.3f} s"
        say(f"replayed {player.count} messages{end}")
        if player.requests:
            say(f"left out {player.requests} requests for a mode")
        if bag.damage:
            say(bag.damage)
        while self._options.stay and not self._stopped():
            if self._options.until < math.inf:
                player.repeat()  # a recording that is paused, not a lost connection
            self._rest_until(time.monotonic() + WATCH_PERIOD)

    def _play(self, bag: BagReader, player: NodePlayer) -> None:
        begin, first = time.monotonic(), None
        for recorded in bag:
            first = recorded.time if first is None else first
            seconds = (recorded.time - first) / 1e9
            if seconds > self._options.until:
                return
            self._rest_until(begin + seconds / self._options.rate)
            if self._stopped():
                return
            player.publish(recorded)

    def _rest_until(self, moment: float) -> None:
        """Wait for `moment` [s, monotonic] or a signal. Raises RefusedError if a robot is up."""
        while not self._stopped():
            now = time.monotonic()
            if now >= self._searched + WATCH_PERIOD:
                self._searched = now
                refuse_beside(sign_of_robot(self._client.node))
            if now >= moment:
                return
            self._client.wait(self._stopped, min(moment - now, WATCH_PERIOD))


# The nodes of a robot that act on topics: a replay must not reach them.
_NODES: Final = frozenset({"controller_manager", "mode_manager", "erob_impedance_manager"})


def sign_of_robot(node: Node) -> str:
    """Return evidence of a robot in the namespace of `node`; empty if it has discovered none."""
    for name, namespace in node.get_node_names_and_namespaces():
        if name in _NODES and namespace == node.get_namespace():
            return f"node {name} is running"
    for publisher in node.get_publishers_info_by_topic(JOINT_STATES):
        if publisher.node_name != node.get_name():
            return f"node {publisher.node_name} publishes {node.resolve_topic_name(JOINT_STATES)}"
    return ""


def refuse_beside(sign: str) -> None:
    """Raise RefusedError if `sign` is evidence of a robot."""
    if sign:
        raise RefusedError(
            f"a robot is up on {robot_in_words()} ({sign}): replayed and present "
            "messages would mix; use another domain: `ROS_DOMAIN_ID=99 hc replay …`"
        )
