"""`hc replay`: a bag is said again, at the pace at which it was heard."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from humanoid_control_cli.bag.robot_near import refuse_beside, sign_of_robot
from humanoid_control_cli.client import Client
from humanoid_control_cli.signals import StopSignals
from humanoid_controller_manager.domain_lock import take_domain_lock
from humanoid_recording.node_player import NodePlayer
from humanoid_recording.reader import BagReader
from humanoid_recording.whole_writes import BagError

DISCOVERY: Final = 2.0  # [s] after which a robot that is up has been noticed
WATCH_PERIOD: Final = 0.25  # [s] between two looks for a robot that comes up


@dataclass(frozen=True, slots=True)
class Wishes:
    """What to replay, and how."""

    path: Path  # of the bag
    rate: float = 1.0  # recorded seconds per second
    loop: bool = False
    stay: bool = False  # after the end, for listeners to latched topics that come later


def replay(wishes: Wishes, say: Callable[[str], None]) -> None:
    """Replay until the end or a signal.

    Raises RefusedError or ConfigError if a robot is up or comes up, BagError if there is nothing
    to replay.
    """
    bag = BagReader(wishes.path)
    with ExitStack() as stack:
        signals = stack.enter_context(StopSignals())
        # No robot comes up on this machine meanwhile; others are looked for.
        stack.enter_context(take_domain_lock())
        client = stack.enter_context(Client(DISCOVERY))
        Replay(wishes, client, lambda: signals.count > 0).run(bag, say)


class Replay:
    """One replay, published by the node of `client` until `stopped`."""

    def __init__(self, wishes: Wishes, client: Client, stopped: Callable[[], bool]) -> None:
        self._wishes = wishes
        self._client = client
        self._stopped = stopped
        self._looked = -math.inf  # for a robot [s], monotonic

    def run(self, bag: BagReader, say: Callable[[str], None]) -> None:
        """See `replay`."""
        self._rest_until(time.monotonic() + DISCOVERY)
        player = NodePlayer(self._client.node, say)
        again = True
        while again:
            self._play(bag, player)
            if not player.count and not self._stopped():
                raise BagError(f"{self._wishes.path}: nothing in it to replay")
            again = self._wishes.loop and not self._stopped()
        say(f"replayed {player.count} messages")
        if player.requests:
            say(f"left out {player.requests} requests for a mode")
        if bag.damage:
            say(bag.damage)
        if self._wishes.stay:
            self._rest_until(math.inf)

    def _play(self, bag: BagReader, player: NodePlayer) -> None:
        begin, first = time.monotonic(), None
        for recorded in bag:
            first = recorded.time if first is None else first
            self._rest_until(begin + (recorded.time - first) / 1e9 / self._wishes.rate)
            if self._stopped():
                return
            player.publish(recorded)

    def _rest_until(self, moment: float) -> None:
        """Wait for `moment` [s, monotonic] or a signal. Raises RefusedError if a robot is up."""
        while not self._stopped():
            now = time.monotonic()
            if now >= self._looked + WATCH_PERIOD:
                self._looked = now
                refuse_beside(sign_of_robot(self._client.node))
            if now >= moment:
                return
            self._client.wait(self._stopped, min(moment - now, WATCH_PERIOD))
