"""Confirmations of an adapter: what it was given until a time, it has taken."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import can
import pytest
from can.interfaces.virtual import VirtualBus
from hypothesis import given
from hypothesis import strategies as st

from humanoid_control_common.machine.linux import LINUX
from humanoid_devices_can.bus.bus import BusSettings, DataFrame
from humanoid_devices_can.bus.confirmations import Confirmations
from humanoid_devices_can.bus.opening import open_bus
from humanoid_devices_can.bus.python_can import PythonCanBus
from humanoid_devices_can.errors import QueueFullError


def test_adapter_has_confirmed_nothing_at_first() -> None:
    assert Confirmations().until == -math.inf
    assert not Confirmations().confirm("a")


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans(), st.booleans()), max_size=30))
def test_no_confirmation_is_later_than_what_it_confirms(
    history: list[tuple[str, bool, bool]],
) -> None:
    found = Confirmations()
    lost_one = False
    for now, (what, is_taken, answer_is_lost) in enumerate(history):
        found.given(what, float(now))
        if not is_taken or answer_is_lost:
            lost_one = True
            continue
        assert found.confirm(what)
        assert found.until <= now
        assert lost_one or found.until == now


def test_answer_to_an_unknown_request_confirms_nothing() -> None:
    found = Confirmations()
    found.given("a", 1.0)
    assert not found.confirm("b")
    assert found.until == -math.inf
    assert found.confirm("a")
    assert found.until == 1.0


def test_an_adapter_confirms_in_the_order_in_which_it_was_given_frames() -> None:
    found = Confirmations()
    found.given("a", 1.0)
    found.given("b", 2.0)
    assert found.confirm("a")
    assert found.until == 1.0
    assert found.confirm("b")
    assert found.until == 2.0


class Socket:
    """The option of a CAN socket, on python-can's bus in memory."""

    def __init__(self, bus: EchoBus) -> None:
        self._bus, self.lost = bus, False
        self.changed: Callable[[], None] = lambda: None

    def setsockopt(self, level: int, option: int, value: int) -> None:
        assert (level, option) == (101, 4)  # SOL_CAN_RAW, CAN_RAW_RECV_OWN_MSGS (linux/can/raw.h)
        if self.lost:
            raise OSError("no such device")
        self._bus.receive_own_messages = bool(value)
        self.changed()


class EchoBus(VirtualBus):  # type: ignore[misc]  # python-can counts as untyped
    """Returns its own frames as SocketCAN does, if its socket was told to."""

    def __init__(self, channel: str) -> None:
        super().__init__(channel)
        self.socket, self.full = Socket(self), False

    def send(self, msg: can.Message, timeout: float | None = None) -> None:
        if self.full:
            raise can.CanOperationError("Transmit buffer full")  # as python-can's SocketcanBus
        super().send(msg, timeout)


@pytest.fixture
def both(
    request: pytest.FixtureRequest,
) -> Iterator[tuple[PythonCanBus, EchoBus, VirtualBus]]:
    """The bus of the stack on an interface that counts as SocketCAN, and another node."""
    echo = EchoBus(request.node.name)
    bus = PythonCanBus(BusSettings("socketcan", "can2", 1_000_000), echo, LINUX.clock)
    node = VirtualBus(request.node.name)
    yield bus, echo, node
    bus.close()
    node.shutdown()


Both = tuple[PythonCanBus, EchoBus, VirtualBus]


def test_a_frame_that_the_adapter_has_sent_confirms_and_is_not_received(both: Both) -> None:
    bus, _, node = both
    assert bus.set_confirming(True)
    before = LINUX.clock()
    node.send(can.Message(arbitration_id=5, is_extended_id=True))
    bus.send((7, b"x"))
    assert bus.confirmed == -math.inf
    assert bus.receive_all(0.0) == [DataFrame(5, b"")]
    assert before <= bus.confirmed <= LINUX.clock()


def test_frames_of_other_programs_on_this_machine_are_received_and_confirm_nothing(
    both: Both,
) -> None:
    bus, echo, _ = both
    assert bus.set_confirming(True)
    echo.send(can.Message(arbitration_id=9, is_extended_id=True))  # not by the stack
    assert bus.receive_all(0.0) == [DataFrame(9, b"")]
    assert bus.confirmed == -math.inf


def test_own_frames_are_returned_only_while_the_adapter_confirms(both: Both) -> None:
    bus, echo, _ = both
    bus.send((7, b"x"))
    assert bus.receive(0.0) is None
    assert bus.set_confirming(True)
    bus.send((7, b"y"))
    bus.set_confirming(False)
    assert not echo.receive_own_messages
    bus.send((7, b"z"))
    assert bus.receive(0.0) is None  # one is on its way, and is no frame of a motor
    assert bus.confirmed > 0.0


def test_own_frames_on_their_way_when_the_next_exchange_begins_are_not_received(
    both: Both,
) -> None:
    bus, _, _ = both
    assert bus.set_confirming(True)
    bus.send((7, b"x"))
    bus.set_confirming(False)
    assert bus.set_confirming(True)
    assert bus.receive_all(0.0) == []
    assert bus.confirmed > 0.0


def test_a_frame_that_another_thread_sends_while_confirming_begins_is_not_received(
    both: Both,
) -> None:
    bus, echo, _ = both
    echo.socket.changed = lambda: bus.send((7, b"x"))
    assert bus.set_confirming(True)
    assert bus.receive_all(0.0) == []


def test_a_frame_for_which_the_queue_had_no_room_is_not_waited_for(both: Both) -> None:
    bus, echo, _ = both
    assert bus.set_confirming(True)
    echo.full = True
    with pytest.raises(QueueFullError):
        bus.send((7, b"x"))
    echo.full = False
    before = LINUX.clock()
    bus.send((7, b"x"))
    assert bus.receive_all(0.0) == []
    assert bus.confirmed >= before


def test_a_lost_adapter_does_not_confirm(both: Both) -> None:
    bus, echo, _ = both
    echo.socket.lost = True
    assert not bus.set_confirming(True)
    bus.set_confirming(False)
    bus.send((7, b"x"))
    assert bus.confirmed == -math.inf


def test_an_interface_without_confirmations_does_not_confirm() -> None:
    bus = open_bus(BusSettings("virtual", "unconfirmed", 1_000_000))
    assert not bus.set_confirming(True)
    assert not bus.ask()
    bus.close()
