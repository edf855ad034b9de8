"""Opening buses, and using those of python-can: errors name the remedy."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator
from typing import NoReturn

import can
import pytest
from can.exceptions import (
    CanInitializationError,
    CanInterfaceNotImplementedError,
    CanOperationError,
    CanTimeoutError,
)

from humanoid_devices_can.bus.bus import BusSettings, DataFrame, ErrorFrame, InvalidFrame
from humanoid_devices_can.bus.error_frames import BusEvent, ControllerState, controller_state
from humanoid_devices_can.bus.opening import open_bus
from humanoid_devices_can.bus.problems import closed_problem, opening_problem, sending_problem
from humanoid_devices_can.bus.python_can import PythonCanBus
from humanoid_devices_can.errors import AdapterLostError, InterfaceError, QueueFullError

CAN2 = BusSettings("socketcan", "can2", 1_000_000)
SERIAL = BusSettings("slcan", "/dev/ttyACM0", 1_000_000)


@pytest.mark.parametrize(
    ("error", "settings", "message"),
    [
        (NotImplementedError(), BusSettings("socktcan", "can2", 1), "available: .*socketcan"),
        (CanInterfaceNotImplementedError("no module 'pcan'"), CAN2, "no module 'pcan'.*install"),
        (OSError(errno.ENODEV, "x"), CAN2, "no 'can2' on this machine .*ip link"),
        (OSError(errno.ENOENT, "x"), SERIAL, "no '/dev/ttyACM0' .*plugged in.*/dev/serial/by-id"),
        (OSError(errno.EACCES, "x"), SERIAL, "no permission: join the group.*dialout"),
        (OSError(errno.EPERM, "x"), CAN2, "no permission: CAN sockets are forbidden"),
        (OSError(errno.ENETDOWN, "x"), CAN2, "down: ip link set can2 up type can bitrate 1000000"),
        (OSError(errno.EAFNOSUPPORT, "x"), CAN2, "kernel has no SocketCAN"),
        (OSError(errno.EBUSY, "x"), SERIAL, "another program uses it"),
        (ValueError("Invalid bitrate"), SERIAL, "Invalid bitrate"),
        (TypeError("unexpected keyword argument 'colour'"), SERIAL, "'colour'"),
        (NameError("name 'canOpen' is not defined"), SERIAL, "canOpen.*: install the .* driver"),
    ],
)
def test_opening_problem_has_the_remedy(error, settings, message) -> None:
    text = opening_problem(error, settings)
    assert text.startswith(f"{settings}: cannot be opened: ")
    with pytest.raises(InterfaceError, match=message):
        raise InterfaceError(text)


def test_cause_of_a_wrapped_error_counts() -> None:
    wrapped = CanInitializationError("could not open port")
    wrapped.__cause__ = OSError(errno.EACCES, "denied")
    assert "no permission" in opening_problem(wrapped, SERIAL)


@pytest.mark.parametrize(
    "error",
    [
        CanOperationError("Failed to transmit", errno.ENOBUFS),
        CanOperationError("Transmit buffer full"),
        CanTimeoutError("later"),
        CanOperationError("cannot write: Write timeout"),
    ],
)
def test_full_queue_is_no_lost_adapter(error) -> None:
    assert isinstance(sending_problem(error, CAN2), QueueFullError)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (CanOperationError("Failed", errno.ENETDOWN), "can2 up type can bitrate 1000000"),
        (CanOperationError("Failed", errno.ENXIO), "plug it in"),
    ],
)
def test_lost_adapter_is_reported_with_the_remedy(error, message) -> None:
    assert message in str(closed_problem(error, CAN2))
    assert isinstance(sending_problem(error, CAN2), AdapterLostError)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (BusSettings("no-such", "x", 1_000_000), "python-can has no such interface"),
        (BusSettings("slcan", "/nowhere/tty", 1_000_000), "no '/nowhere/tty'"),
        (BusSettings("slcan", "/dev/null", 1_000_000, {"colour": 2}), "cannot be opened"),
    ],
)
def test_bus_that_is_not_there_is_refused(settings, message) -> None:
    with pytest.raises(InterfaceError, match=message):
        open_bus(settings)


def test_whatever_a_driver_raises_is_a_bus_that_cannot_be_opened(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def driver(**_: object) -> NoReturn:
        raise KeyError("serial")

    monkeypatch.setattr(can, "Bus", driver)
    with pytest.raises(InterfaceError, match="pcan PCAN_USBBUS1: cannot be opened: 'serial'"):
        open_bus(BusSettings("pcan", "PCAN_USBBUS1", 1_000_000))


@pytest.mark.skipif(os.path.exists("/proc/net/can"), reason="this kernel has SocketCAN")
def test_kernel_without_socketcan_is_distinguished() -> None:
    with pytest.raises(InterfaceError, match="kernel has no SocketCAN"):
        open_bus(CAN2)


@pytest.fixture
def pair() -> Iterator[tuple[PythonCanBus, can.BusABC]]:
    """A bus of the component, and its other end."""
    ours = open_bus(BusSettings("virtual", "test_bus", 1_000_000))
    assert isinstance(ours, PythonCanBus)
    theirs = can.Bus(interface="virtual", channel="test_bus")
    yield ours, theirs
    ours.close()
    theirs.shutdown()


def test_frames_go_both_ways(pair) -> None:
    ours, theirs = pair
    ours.send((0x05061609, b"\1\2"))
    message = theirs.recv(1.0)
    assert (message.arbitration_id, bytes(message.data)) == (0x05061609, b"\1\2")
    assert message.is_extended_id
    theirs.send(can.Message(arbitration_id=0x050616B1, data=b"\3", is_extended_id=True))
    assert ours.receive(1.0) == DataFrame(0x050616B1, b"\3")
    assert ours.receive(0.0) is None
    assert ours.state() is ControllerState.ACTIVE


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (can.Message(arbitration_id=0x123, is_extended_id=False, data=b"1"), "0x123 has 11 bits"),
        (can.Message(arbitration_id=1, is_remote_frame=True, dlc=8), "remote or FD"),
        (can.Message(arbitration_id=1, is_fd=True, data=bytes(12)), "remote or FD"),
        (can.Message(arbitration_id=1, data=b"12", dlc=8), "announces 8 bytes and has 2"),
    ],
)
def test_frame_that_no_motor_sends_is_reported(pair, message, reason) -> None:
    ours, theirs = pair
    theirs.send(message)
    received = ours.receive(1.0)
    assert isinstance(received, InvalidFrame)
    assert reason in received.reason


def test_error_frames_are_distinguished(pair) -> None:
    ours, theirs = pair
    theirs.send(can.Message(arbitration_id=0x240, is_error_frame=True, data=bytes(8)))
    assert ours.receive(1.0) == ErrorFrame(BusEvent.BUS_OFF | BusEvent.COUNTERS, bytes(8))


def test_wait_is_not_longer_if_the_wall_clock_is_set_back(pair, monkeypatch) -> None:
    ours, _ = pair
    clock = iter([1000.0] + [998.0] * 10)
    monkeypatch.setattr(can.bus, "time", lambda: next(clock))
    waits: list[float] = []

    def silent(timeout: float) -> tuple[None, bool]:
        waits.append(timeout)
        time.sleep(timeout)  # as the interface does
        return None, False

    monkeypatch.setattr(ours._bus, "_recv_internal", silent)
    assert ours.receive(0.02) is None
    assert sum(waits) <= 0.021


def test_closed_bus_is_a_lost_adapter(pair) -> None:
    ours, _ = pair
    ours.close()
    with pytest.raises(AdapterLostError):
        ours.receive(0.0)
    with pytest.raises(AdapterLostError):
        ours.send((1, b""))


@pytest.mark.parametrize(
    ("event", "details", "state"),
    [
        (BusEvent.BUS_OFF, 0x00, ControllerState.OFF),
        (BusEvent.RESTARTED, 0x00, ControllerState.ACTIVE),
        (BusEvent.CONTROLLER, 0x10, ControllerState.PASSIVE),
        (BusEvent.CONTROLLER, 0x20, ControllerState.PASSIVE),
        (BusEvent.CONTROLLER, 0x08, ControllerState.WARNING),
        (BusEvent.CONTROLLER, 0x40, ControllerState.ACTIVE),
        (BusEvent.CONTROLLER, 0x02, None),
        (BusEvent.NO_ACKNOWLEDGE, 0x20, None),
    ],
)
def test_controller_state_of_error_frames(event, details, state) -> None:
    assert controller_state(event, bytes([0, details, 0, 0, 0, 0, 0, 0])) is state
    assert controller_state(event, b"") in (state, None)
