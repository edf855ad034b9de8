"""The client of a robot's joint stream."""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from types import TracebackType
from typing import Any, Final, Self

import grpc

from humanoid_joint_client import joint_stream_pb2 as pb
from humanoid_joint_client.address import local_address
from humanoid_joint_client.config import RobotConfig, config_of
from humanoid_joint_client.control import Control
from humanoid_joint_client.errors import NoAnswerError, error_of, raise_unless_ok
from humanoid_joint_client.latency import LatencyReport, LatencyTracker
from humanoid_joint_client.mjcf import Mjcf
from humanoid_joint_client.newest_values import NewestValues
from humanoid_joint_client.rpc import LARGEST_DESCRIPTION, stubs
from humanoid_joint_client.state import Fault, JointStates, state_of
from humanoid_joint_client.status import Execution, Status
from humanoid_joint_client.time_sync import EXCHANGES, Exchange, Synchronization, synchronized

CONVERSION: Final = 30.0  # [s] a description may take to become a model
AHEAD: Final = 64  # states that may be under way: at 1 kHz, over a round trip of 32 ms
KEEPALIVE: Final = 1000  # [ms] until a silent connection is tested, and longest time of the answer
_OPTIONS: Final = (
    ("grpc.keepalive_time_ms", KEEPALIVE),
    ("grpc.keepalive_timeout_ms", KEEPALIVE),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.max_receive_message_length", LARGEST_DESCRIPTION),
    # A server that is started again is found at once, by each client for itself.
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", KEEPALIVE),
)


class JointClient:
    """Reads the states of a robot, and commands it while in a `control` block.

    Args:
        address: `HOST:PORT`; empty: the robot of this user on this machine, by ROS_DOMAIN_ID.
        certificate: file with the server's certificate, or that of its authority. Needed for
            `HOST:PORT`.
        token: the server's token. Needed for `HOST:PORT`.
        timeout: of every call [s].

    The methods raise JointStreamError: NoAnswerError, or the class of the robot's status.
    """

    def __init__(
        self,
        address: str = "",
        *,
        certificate: Path | str | None = None,
        token: str = "",
        timeout: float = 5.0,
    ) -> None:
        self._timeout = timeout
        self._channel = _channel(address or local_address(), certificate, token)
        self._calls = stubs(self._channel)
        self._config: RobotConfig | None = None
        self._synchronization: Synchronization | None = None
        self._latency = LatencyTracker()
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the connection, and with it all calls."""
        self._closed = True
        self._channel.close()

    @property
    def config(self) -> RobotConfig:
        """Joints, limits, capabilities and rates; requested once."""
        if self._config is None:
            self._config = config_of(self.call("GetConfig", pb.ConfigRequest()))
        return self._config

    def urdf(self) -> str:
        """Return the description of the robot."""
        return str(self.call("GetDescription", pb.DescriptionRequest()).urdf)

    def mjcf(self) -> Mjcf:
        """Return the robot as a model of MuJoCo. The robot's computer takes a second for it."""
        found = self.call("GetMjcf", pb.DescriptionRequest(), CONVERSION)
        return Mjcf(found.xml, dict(found.meshes))

    def synchronize(self, lease: str = "") -> Synchronization:
        """Measure the offset of the robot's clock; a lease is kept by it."""
        exchanges = []
        for _ in range(EXCHANGES):
            request = pb.TimeRequest(client_send=time.monotonic_ns(), lease=lease)
            reply = self.call("SyncTime", request)
            now = time.monotonic_ns()
            found = Exchange(reply.client_send, reply.server_receive, reply.server_send, now)
            exchanges.append(found)
        self._synchronization = synchronized(exchanges)
        return self._synchronization

    def robot_time(self) -> int:
        """Return the robot's time [ns], by the latest synchronization."""
        found = self._synchronization or self.synchronize()
        return time.monotonic_ns() + found.offset

    def states(self, decimation: int = 0, keep: int = 1) -> Iterator[JointStates]:
        """Yield states until the caller stops.

        Args:
            decimation: every n-th tick of the loop; 0: `RobotConfig.state_rate`.
            keep: states that wait for a slow caller, 1 or more; older ones are dropped.
        """
        with self.open_states(decimation, keep) as values:
            yield from values

    @contextmanager
    def open_states(
        self, decimation: int, keep: int, on_change: Callable[[], None] = lambda: None
    ) -> Iterator[NewestValues[JointStates]]:
        """Read states in a thread of their own; see `states`, and NewestValues."""
        self.robot_time()  # synchronized before the first state
        self._latency.skip_gap()
        asked: SimpleQueue[Any] = SimpleQueue()  # requests; None: no further one
        asked.put(pb.StatesRequest(decimation=decimation, count=AHEAD))
        more = pb.StatesRequest(decimation=decimation, count=AHEAD // 2)
        call = self._calls["StreamStates"](iter(asked.get, None))

        def arriving() -> Iterator[JointStates]:
            try:
                for number, message in enumerate(call, 1):
                    if number % (AHEAD // 2) == 0:
                        asked.put(more)
                    state = state_of(message, self.robot_time())
                    self._latency.arrived(state)
                    yield state
            except grpc.RpcError as error:
                raise _no_answer("StreamStates", error) from error

        try:
            yield NewestValues(arriving(), keep, on_change)
        finally:
            asked.put(None)
            # Not at the interpreter's end: a thread that was stopped may have gRPC's lock for ever.
            if not (self._closed or sys.is_finalizing()):
                call.cancel()

    @contextmanager
    def control(self, owner: str = "") -> Iterator[Control]:
        """Have the robot follow this client; it stops following at the end of the block.

        The robot must be in a finished STANDBY, or in REMOTE. At the end it goes to DAMPING.
        `owner`: shown to other clients; default: host and process.
        """
        config = self.config
        name = owner or f"{socket.gethostname()}:{os.getpid()}"
        lease = self.call("AcquireLease", pb.LeaseRequest(owner=name))
        raise_unless_ok(lease.status, f"{lease.owner} has it" if lease.owner else "")
        control = Control(self, lease.token, config, self._latency)
        try:
            control.begin()
            control.activate()
            yield control
        finally:
            control.end()

    def faults(self) -> list[Fault]:
        """Return the present faults."""
        found = self.call("ListFaults", pb.FaultsRequest()).faults
        return [Fault(it.id, it.cause, it.time, it.clearable) for it in found]

    def clear_fault(self, fault: Fault, lease: str = "") -> None:
        """Clear a fault; with a lease if another client may have it."""
        request = pb.ClearFaultRequest(id=fault.id, lease=lease)
        reply = self.call("ClearFault", request)
        raise_unless_ok(reply.status, reply.message)

    def feedback(self) -> Any:
        """Return the message Feedback of the .proto: state, latest reason, counters, mode."""
        return self.call("GetFeedback", pb.FeedbackRequest())

    @property
    def execution(self) -> Execution:
        """Return the present execution of the stream by the robot."""
        return Execution(self.feedback().execution)

    @property
    def latency(self) -> LatencyReport:
        """The times of what was sent, and of the states read, so far."""
        return self._latency.report()

    def call(self, name: str, request: Any, timeout: float | None = None) -> Any:
        """Return the answer of a call of the .proto. Raises NoAnswerError."""
        try:
            return self._calls[name](request, timeout=timeout or self._timeout)
        except grpc.RpcError as error:
            raise _no_answer(name, error) from error
        except ValueError as error:  # gRPC's, of a channel that another thread has closed
            if not self._closed:
                raise
            raise NoAnswerError(f"{name}: this client is closed") from error

    def open_stream(self, updates: Iterator[Any]) -> Any:
        """Return the future end of a new stream of commands."""
        return self._calls["StreamCommands"].future(updates)


def _no_answer(name: str, error: grpc.RpcError) -> Exception:
    code = error.code() if isinstance(error, grpc.Call) else None
    text = error.details() if isinstance(error, grpc.Call) else str(error)
    if code is grpc.StatusCode.FAILED_PRECONDITION:
        return error_of(Status.UNAVAILABLE, text or "")
    return NoAnswerError(f"{name}: {code.name if code else 'failed'}: {text}")


def _channel(address: str, certificate: Path | str | None, token: str) -> grpc.Channel:
    if address.startswith("unix:"):
        return grpc.insecure_channel(address, _OPTIONS)
    if certificate is None or not token:
        raise NoAnswerError(f"{address}: another machine needs a certificate and a token")
    token = token.strip()  # as the server does: the end of its file's line
    if not (token.isascii() and token.isprintable()):
        raise NoAnswerError("token: expected printable characters of ASCII")
    try:
        roots = Path(certificate).read_bytes()
    except OSError as error:
        raise NoAnswerError(f"{certificate}: cannot be read: {error.strerror}") from error
    credentials = grpc.composite_channel_credentials(
        grpc.ssl_channel_credentials(roots), grpc.access_token_call_credentials(token)
    )
    return grpc.secure_channel(address, credentials, _OPTIONS)
