"""Commands of one client to a robot."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any, Final

import grpc
import numpy as np
from numpy.typing import NDArray

from humanoid_joint_client import joint_stream_pb2 as pb
from humanoid_joint_client.errors import (
    InactiveError,
    JointStreamError,
    NoAnswerError,
    error_of,
    raise_unless_ok,
)
from humanoid_joint_client.latency import LatencyTracker
from humanoid_joint_client.outgoing import STALE, Outgoing
from humanoid_joint_client.status import Status

if TYPE_CHECKING:
    from humanoid_joint_client.client import JointClient
    from humanoid_joint_client.config import RobotConfig

Values = Sequence[float] | NDArray[np.float64]
REFRESH: Final = 4  # times in the lease's timeout that it is kept, and the clock synchronized
LAST_KEY: Final = (1 << 32) - 1
ACTIVATION: Final = 10.0  # [s] it may take
FRESH: Final = 0.5  # of its horizon that an update waits behind a newer one; the rest is its way


class Control:
    """The right to command the robot, made by `JointClient.control`."""

    def __init__(
        self, client: JointClient, lease: str, config: RobotConfig, latency: LatencyTracker
    ) -> None:
        self.lease = lease
        self._client, self._config, self._latency = client, config, latency
        self._outgoing = Outgoing()
        self._ended = threading.Event()
        self._stream: Any = None
        self._key = 0
        self._lost: JointStreamError | None = None  # why the lease could not be kept

    def begin(self) -> None:
        """Synchronize the clock; keep the lease, and the clock synchronized, until `end`."""
        self._client.synchronize(self.lease)
        threading.Thread(target=self._keep, name="lease", daemon=True).start()

    @property
    def dropped(self) -> int:
        """Updates of the latest stream that waited too long for the connection: never sent."""
        return self._outgoing.dropped

    def activate(self) -> int:
        """Have the robot follow from now on; return the number of this activation.

        Also after the robot has stopped following, for instance because a command had ended. Never
        called by itself.
        """
        self._end_stream()
        request = pb.ActivateRequest(lease=self.lease)
        reply = self._client.call("Activate", request, ACTIVATION)
        raise_unless_ok(reply.status, reply.message)
        return int(reply.command_id)

    def send(  # noqa: PLR0913 - the fields of an update
        self,
        position: Values,
        velocity: Values | None = None,
        load: Values | None = None,
        *,
        gains: tuple[Values, Values] | None = None,
        horizon: float = 0.1,
        reference_time: int | None = None,
        extrapolation: float = 0.0,
        velocity_safety_limit: float | None = None,
        key: int | None = None,
    ) -> int:
        """Send one command; return its key.

        Args:
            position: [rad], (n,).
            velocity: [rad/s], (n,); None: 0.
            load: [Nm], (n,); None: 0.
            gains: k_q_p [Nm/rad] and k_qd_p [Nm*s/rad]; None: as before, at first the mode's.
            horizon: time [s] after which the command ends, unless another one arrives.
            reference_time: origin of the extrapolation [ns] of the robot's clock; None: receipt.
            extrapolation: time [s] for which the position moves on with the velocity.
            velocity_safety_limit: [rad/s] of any joint, for this command only.
            key: returned in the states; None: a new one. 0 gives a warning: it means "no command".

        Raises the error with which the robot has ended the stream.
        """
        self._raise_if_ended()
        first = self._stream is None
        if gains is None and first:
            gains = self._config.mode_gains()
        self._key = self._key % LAST_KEY + 1 if key is None else key
        if self._key == 0:
            warnings.warn("key 0: in the states this command looks like no command", stacklevel=2)
        zeros = np.zeros(len(self._config))
        now = self._client.robot_time()
        update = pb.Update(
            end_time=now + round(horizon * 1e9),
            position=position,
            velocity=zeros if velocity is None else velocity,
            load=zeros if load is None else load,
            user_command_key=self._key,
            reference_time=reference_time,
            extrapolation_duration=round(extrapolation * 1e9),
            velocity_safety_limit=velocity_safety_limit,
        )
        if gains is not None:
            update.gains.k_q_p.extend(gains[0])
            update.gains.k_qd_p.extend(gains[1])
        self.send_update(update, round(FRESH * horizon * 1e9))
        self._latency.sent(self._key, now)
        return self._key

    def send_update(self, update: Any, waits: int = STALE) -> None:
        """Send the message Update of the .proto as it is, but for the lease. See Outgoing.put."""
        if self._stream is None:
            update.lease = self.lease
            self._outgoing = Outgoing()
            self._stream = self._client.open_stream(self._outgoing)
        self._outgoing.put(update, waits)

    def end(self) -> None:
        """Have the robot stop following and go to DAMPING; return the lease. Raises no error."""
        self._ended.set()
        with ExitStack() as last:  # each of them, also if Ctrl-C interrupts the one before
            last.callback(self._tell, "ReturnLease")
            last.callback(self._tell, "Deactivate")
            self._end_stream()

    def finish(self) -> Any:
        """End the stream; return the message StreamEnd. Raises its error."""
        stream = self._stream
        if stream is None:
            raise InactiveError("nothing was sent")
        self._end_stream()
        return self._result(stream)

    # Inside.

    def _tell(self, call: str) -> None:
        with suppress(JointStreamError):
            self._client.call(call, pb.LeaseToken(token=self.lease))

    def _end_stream(self) -> None:
        stream, self._stream = self._stream, None
        if stream is None:
            return
        self._outgoing.close()
        try:
            with suppress(grpc.RpcError, grpc.FutureTimeoutError, grpc.FutureCancelledError):
                stream.result(timeout=1.0)
        finally:
            stream.cancel()

    def _raise_if_ended(self) -> None:
        if self._lost is not None:
            raise self._lost
        if self._stream is not None and self._stream.done():
            end = self._result(self._stream)
            raise InactiveError(end.message or "the stream has ended")

    @staticmethod
    def _result(stream: Any) -> Any:
        try:
            end = stream.result(timeout=1.0)
        except (grpc.RpcError, grpc.FutureTimeoutError, grpc.FutureCancelledError) as error:
            raise NoAnswerError(f"the stream of commands is lost: {error}") from error
        if end.status != Status.OK:
            raise error_of(end.status, end.message)
        return end

    def _keep(self) -> None:
        interval = self._config.lease_timeout / REFRESH
        while not self._ended.wait(interval):
            try:
                reply = self._client.call("KeepLease", pb.LeaseToken(token=self.lease))
                raise_unless_ok(reply.status, reply.message)
                self._client.synchronize(self.lease)
            except NoAnswerError:
                continue  # the connection may be restored in time
            except JointStreamError as error:
                text = f"the lease is lost ({error}): enter the control block again"
                self._lost = error_of(Status.NO_LEASE, text)
                return
