"""Answers of services that make no thread of their process wait.

rmw_fastrtps waits up to 0.1 s for the reader of an answer, and rclpy holds the interpreter
meanwhile. A client that ends right after its request has no reader any more: the control loop stood
still for 0.1 s, long enough for the watchdogs of drives, and the robot fell (measured). So an
answer is sent only while its reader is known.
"""

import ctypes
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from rclpy.service import Service
from rclpy.timer import Timer
from rclpy.utilities import get_rmw_implementation_identifier

from humanoid_control_common.machine.linux import LINUX
from humanoid_control_common.middleware.steady_timer import create_steady_timer

PATIENCE: Final = 1.0  # [s] for the reader of an answer to become known
PERIOD: Final = 0.01  # [s] between two looks for it
_GID: Final = 16  # [bytes] at the begin of rmw_request_id_t; a number of 8 bytes follows
_IS_READER: Final = 4  # bit of the last byte of a GID of DDS


class _Answer(NamedTuple):
    """An answer whose reader is not known."""

    service: Service
    send: Callable[[], None]
    reader: bytes
    until: float  # [s], monotonic


class PromptAnswers:
    """The part of a node, before rclpy's Node, that sends the answers of its services."""

    _unsent: tuple[_Answer, ...] = ()
    _looking: Timer | None = None

    def create_service(self, *args: Any, **kwargs: Any) -> Service:
        """See rclpy's Node."""
        service: Service = super().create_service(*args, **kwargs)  # type: ignore[misc]
        if "fastrtps" in get_rmw_implementation_identifier():
            send = service.send_response
            service.send_response = lambda response, header: self._answer(
                service, lambda: send(response, header), header
            )
        return service

    def _answer(self, service: Service, send: Callable[[], None], header: Any) -> None:
        reader = reader_of(header)
        if not reader or self._is_known(service, reader):
            send()
            return
        answer = _Answer(service, send, reader, LINUX.clock() + PATIENCE)
        self._unsent = (*self._unsent, answer)
        node: Any = self
        if self._looking is None:
            self._looking = create_steady_timer(node, PERIOD, self._look_again)
        self._looking.reset()

    def _look_again(self) -> None:
        """Send the answers whose readers are known now; drop those that have waited too long."""
        now, waiting, self._unsent = LINUX.clock(), self._unsent, ()
        left = []
        for answer in waiting:
            if self._is_known(answer.service, answer.reader):
                answer.send()
            elif now < answer.until:
                left.append(answer)
        self._unsent = (*left, *self._unsent)
        if not self._unsent and self._looking is not None:
            self._looking.cancel()

    def _is_known(self, service: Service, reader: bytes) -> bool:
        node: Any = self
        topic = f"rr{service.service_name}Reply"
        readers = node.get_subscriptions_info_by_topic(topic, no_mangle=True)
        return any(bytes(it.endpoint_gid)[:_GID] == reader for it in readers)


def reader_of(header: Any) -> bytes:
    """Return the GID of the reader for the answer to a request; empty if it is unknown.

    rclpy does not give it: it is read from rmw_request_id_t. pybind11 has the address of the C
    object behind the head of its Python object; an object of another origin is not read.
    """
    request = header.request_id
    if type(type(request)).__name__ != "pybind11_type":
        return b""
    address = ctypes.c_void_p.from_address(id(request) + object.__basicsize__).value
    if address is None:
        return b""
    content = ctypes.string_at(address, _GID + 8)
    gid = content[:_GID]
    known = int.from_bytes(content[_GID:], "little", signed=True) == request.sequence_number
    return gid if known and gid[-1] & _IS_READER else b""
