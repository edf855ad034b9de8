"""Programs that command a robot over the socket of its joint stream, and break the connection.

They use HTTP/2 directly, so they begin within a millisecond and end at any byte.
"""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any, Final

import numpy as np

from benchmarks.support.http2 import DATA, Connection, frame, prefixed
from humanoid_joint_client import joint_stream_pb2 as pb
from humanoid_joint_client.status import Execution, Status
from src.humanoid_control_cli.test.conftest import TIMEOUT
from src.humanoid_control_cli.test.stream_robot import Ticks, is_stiff, stiff_beyond

MS: Final = 1_000_000  # [ns]
FOLLOWS: Final = 1.0  # [s] until the robot follows


class Owner:
    """Takes the lease and activates the robot. Its calls are checked."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._connection = Connection(path)
        self.config = pb.Config.FromString(self._connection.call("GetConfig", b""))
        self.lease = self._call("AcquireLease", pb.LeaseRequest(owner="breaking"), pb.Lease).token

    def activate(self) -> int:
        """Activate; this also keeps the lease. Return the number of faults cleared before."""
        request = pb.ActivateRequest(lease=self.lease).SerializeToString()
        reply = pb.ActivateReply.FromString(self._connection.call("Activate", request))
        if reply.status == Status.FAULT:
            return self.clear_faults() + self.activate()
        assert reply.status == Status.OK, reply
        return 0

    def clear_faults(self) -> int:
        """Clear the faults; return their number. This client may clear each of them."""
        faults = pb.Faults.FromString(self._connection.call("ListFaults", b"")).faults
        for fault in faults:
            assert fault.clearable, fault
            self._call("ClearFault", pb.ClearFaultRequest(id=fault.id, lease=self.lease), pb.Reply)
        return len(faults)

    def is_followed(self) -> bool:
        """Return whether a command is executed; a pose that is held is stiff, too."""
        feedback = pb.Feedback.FromString(self._connection.call("GetFeedback", b""))
        return bool(feedback.execution == Execution.FOLLOWING)

    def end(self) -> None:
        self._call("ReturnLease", pb.LeaseToken(token=self.lease), pb.Reply)
        self._connection.close()

    def update(self, ticks: Ticks, horizon: int) -> Any:
        """Return an update that holds the measured pose for `horizon` [ns]."""
        zeros = [0.0] * len(self.config.joints)
        pose = ticks.since(ticks.number - 1)["state"][0, 0].tolist()
        gains = pb.Gains(
            k_q_p=[self.config.mode_k_q_p] * len(zeros),
            k_qd_p=[self.config.mode_k_qd_p] * len(zeros),
        )
        words = {"position": pose, "velocity": zeros, "load": zeros, "gains": gains}
        return pb.Update(end_time=time.monotonic_ns() + horizon, lease=self.lease, **words)

    def _call(self, method: str, request: Any, kind: Any) -> Any:
        reply = kind.FromString(self._connection.call(method, request.SerializeToString()))
        assert reply.status == Status.OK, (method, reply)
        return reply


@dataclass(slots=True)
class Sender:
    """A stream of updates."""

    connection: Connection
    stream: int
    end: int = 0  # [ns] of its latest update

    @classmethod
    def begin(cls, owner: Owner) -> Sender:
        connection = Connection(owner.path)
        return cls(connection, connection.open("StreamCommands"))

    def send(self, update: Any) -> None:
        self.end = update.end_time
        self.connection.send(self.stream, update.SerializeToString())


def closed(sender: Sender, _: Random) -> None:
    sender.connection.close()


def cancelled(sender: Sender, _: Random) -> None:
    sender.connection.reset(sender.stream)


def ended(sender: Sender, _: Random) -> None:
    sender.connection.close_half(sender.stream)


def shut(sender: Sender, _: Random) -> None:
    sender.connection.socket.shutdown(socket.SHUT_WR)


def torn(sender: Sender, chance: Random) -> None:
    """End the connection within a message."""
    data = frame(DATA, 0, sender.stream, prefixed(bytes(500)))
    sender.connection.send_raw(data[: chance.randrange(1, len(data))])
    sender.connection.close()


def frozen(_sender: Sender, _: Random) -> None:
    """Send nothing more, without an end of the stream."""


ENDS: Final[tuple[Callable[[Sender, Random], None], ...]] = (
    closed,
    cancelled,
    ended,
    shut,
    torn,
    frozen,
)
KILLED: Final = "killed"


@dataclass(frozen=True, slots=True)
class Disconnect:
    """The robot's reaction to one disconnection."""

    how: str
    ticks: int  # ticks with the stream's command after the end of the connection
    beyond: int  # of these, begun after the end of the command
    stiff: bool  # before


def disconnect(owner: Owner, ticks: Ticks, chance: Random) -> Disconnect:
    """Let the robot follow a program that disconnects at a random time in a random way."""
    assert owner.activate() == 0, "a fault stood"
    before = ticks.number
    how = chance.randrange(len(ENDS) + 1)
    if how == len(ENDS):
        name, closing, end = KILLED, *_kill(owner, ticks, chance)
    else:
        sender = Sender.begin(owner)
        _stream(sender, owner, ticks, chance, until=chance.randrange(1, 8))
        act = ENDS[how]
        act(sender, chance)
        name, closing, end = act.__name__, time.monotonic_ns(), sender.end
    _wait(lambda: ticks.number > before and not is_stiff(ticks.since(ticks.number - 1))[0])
    if how < len(ENDS):
        sender.connection.close()
    found = ticks.since(before)
    stiff = is_stiff(found)
    after = int((found["monotonic"][stiff] > closing).sum())
    return Disconnect(name, after, stiff_beyond(found, end), bool(stiff.any()))


def _stream(sender: Sender, owner: Owner, ticks: Ticks, chance: Random, until: int) -> None:
    """Send `until` updates at random times; wait until the robot executes one."""
    for _ in range(until):
        sender.send(owner.update(ticks, chance.randrange(60 * MS, 400 * MS)))
        time.sleep(chance.random() * 0.006)
    _comes(owner.is_followed)
    time.sleep(chance.random() * 0.01)
    sender.send(owner.update(ticks, chance.randrange(60 * MS, 400 * MS)))


def _kill(owner: Owner, ticks: Ticks, chance: Random) -> tuple[int, int]:
    """Kill a streaming process; return the times of its end and of the end of its command [ns]."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            sender = Sender.begin(owner)
            while True:
                update = owner.update(ticks, chance.randrange(60 * MS, 400 * MS))
                os.write(writing, np.int64(update.end_time).tobytes())
                sender.send(update)
                time.sleep(0.003)
        finally:
            os._exit(1)
    os.close(writing)
    _comes(owner.is_followed)
    time.sleep(chance.random() * 0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    closing = time.monotonic_ns()
    with os.fdopen(reading, "rb") as pipe:
        end = np.frombuffer(pipe.read(), np.int64)
    return closing, int(end.max())


def _comes(condition: Callable[[], bool]) -> None:
    """Wait for `condition`, or FOLLOWS: after a late tick the robot does not follow any more."""
    gives_up = time.monotonic() + FOLLOWS
    while not condition() and time.monotonic() < gives_up:
        time.sleep(0.001)


def _wait(condition: Callable[[], bool]) -> None:
    gives_up = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < gives_up, "the robot does not do it"
        time.sleep(0.001)


def disconnects(path: str, count: int, seed: int) -> list[Disconnect]:
    """Run programs that end in all ways; the robot follows none beyond its end."""
    chance, ticks = Random(seed), Ticks()
    owner = Owner(path)
    try:
        found = [disconnect(owner, ticks, chance) for _ in range(count)]
    finally:
        owner.end()
    assert sum(it.stiff for it in found) > 0.9 * count
    assert [it for it in found if it.beyond] == []
    return found
