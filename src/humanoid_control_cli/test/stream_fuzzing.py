"""Fuzzed updates through the socket of a joint stream; the robot executes the valid ones."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from typing import Any, Final

import numpy as np

from benchmarks.support.http2 import Connection
from humanoid_control_common.tick_records.record_types import Records
from humanoid_joint_client import joint_stream_pb2 as pb
from humanoid_joint_client.status import Status
from src.humanoid_control_cli.test.stream_breaking import Owner
from src.humanoid_control_cli.test.stream_robot import Ticks
from src.humanoid_joint_stream.test.fuzzed_updates import fuzzed

TOGETHER: Final = 8  # updates sent at once: the first invalid one ends the stream
CHECK_EVERY: Final = 64  # streams between two checks of the ticks, whose records last longer


@dataclass(slots=True)
class Sent:
    """The results of the updates."""

    received: int = 0
    accepted: int = 0
    streams: int = 0
    faults: int = 0  # a joint exceeded the velocity limit of an update
    stiff: int = 0  # ticks of the control loop with a command of one of them


def fuzz(path: str, count: int, seed: int) -> Sent:
    """Send updates until `count` are received.

    The robot is activated for every stream. The control loop must write no invalid command.
    """
    chance, ticks, sent = Random(seed), Ticks(), Sent()
    owner = Owner(path)
    connection = Connection(path)
    seen = ticks.number
    try:
        while sent.received < count:
            sent.faults += owner.activate()
            end = _stream(connection, owner, chance)
            sent.received += end.counters.received
            sent.accepted += end.counters.accepted
            sent.streams += 1
            if sent.streams % CHECK_EVERY == 0:
                _raw(path, chance)
                seen, found = ticks.number, ticks.since(seen)
                sent.stiff += _checked(found, owner.config)
    finally:
        connection.close()
        owner.end()
    return sent


def _stream(connection: Connection, owner: Owner, chance: Random) -> Any:
    """Send updates in one stream; return its end."""
    stream = connection.open("StreamCommands")
    for _ in range(TOGETHER):
        now, joints = time.monotonic_ns(), len(owner.config.joints)
        connection.send(stream, fuzzed(now, joints, owner.lease, chance))
    connection.close_half(stream)
    end = pb.StreamEnd.FromString(connection.result(stream))
    assert end.status is not Status.UNKNOWN, end
    return end


def _raw(path: str, chance: Random) -> None:
    """Send bytes that are not HTTP/2."""
    connection = Connection(path)
    with suppress(OSError):
        connection.send_raw(chance.randbytes(chance.randrange(1, 5000)))
    connection.close()


def _checked(ticks: Records, config: Any) -> int:
    """Return the number of ticks with gains of an update. All are finite and within the limits."""
    position, _, effort, k_q_p, k_qd_p = np.moveaxis(ticks["command"], 1, 0)
    lower, upper, limit = (
        np.array([getattr(it, name) for it in config.joints])
        for name in ("lower", "upper", "effort")
    )
    assert np.isfinite(ticks["command"]).all()
    assert (position >= lower - 1e-9).all()
    assert (position <= upper + 1e-9).all()
    assert (np.abs(effort) <= limit + 1e-9).all()
    assert (k_q_p >= 0.0).all()
    assert (k_qd_p >= 0.0).all()
    return int((k_q_p > 0.0).any(axis=1).sum())
