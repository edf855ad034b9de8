"""A family and a bus with scripted behaviour."""

from __future__ import annotations

import threading
from collections import deque

import numpy as np
import pytest
from numpy.typing import NDArray

from humanoid_control_common.machine.linux import LINUX
from humanoid_control_common.machine.machine import Machine
from humanoid_control_common.robot.mit_interface import JointCommand
from humanoid_devices_can.bus.bus import (
    Bus,
    BusSettings,
    CanFrame,
    DataFrame,
    InvalidFrame,
    Received,
)
from humanoid_devices_can.bus.error_frames import ControllerState
from humanoid_devices_can.errors import AdapterLostError, CanBusError, ProtocolError
from humanoid_devices_can.guard.disabled_proof import DisabledProof
from humanoid_devices_can.host import CanHost
from humanoid_devices_can.motor_protocol import Exchange, FamilyKind, Feedback, MotorFamily
from humanoid_devices_can.settings import CanSettings
from humanoid_devices_can.timing import Timing
from src.humanoid_devices.test.can_bench import CanRig, MakeInfo, MakeRig, system_of
from src.humanoid_devices.test.stepped import SteppedTime

# Frames of the made-up family: identifier is kind << 8 | id.
COMMAND, GAINS, DISABLE, ENABLE, STATUS = range(5)


class PlainFamily(MotorFamily):
    """Frames have values as text; a status has the measurement of the motor."""

    feedback_rate = 0.0

    def __init__(self, settings: CanSettings) -> None:
        self.ids = [motor.id for motor in settings.motors]
        count = len(self.ids)
        self.position_limit = np.full(count, 100.0)
        self.effort_limit = np.full(count, 5.0)
        self.stiffness_limit = np.full(count, 100.0)
        self.damping_limit = np.full(count, 10.0)
        self.watchdog = np.full(count, np.inf)
        self._saturated: NDArray[np.bool_] = np.zeros(count, dtype=np.bool_)

    def commands(self, command: JointCommand) -> list[CanFrame]:
        wanted = np.abs([command.position, command.velocity, command.effort])
        self._saturated = wanted.max(axis=0) > 1e9
        return [
            (COMMAND << 8 | id_, f"{position:.2f}".encode())
            for id_, position in zip(self.ids, command.position, strict=True)
        ]

    def gains(self, command: JointCommand) -> list[CanFrame]:
        return [
            (GAINS << 8 | id_, f"{stiffness:.2f}".encode())
            for id_, stiffness in zip(self.ids, command.stiffness, strict=True)
        ]

    def saturated(self) -> NDArray[np.bool_]:
        return self._saturated

    def disabling(self, motor: int, *, clear_faults: bool) -> Exchange:
        return self._order(motor, DISABLE)

    def disabled_proof(self, motor: int) -> DisabledProof:
        return DisabledProof()

    def preparing(self, motor: int) -> tuple[Exchange, ...]:
        return ()

    def enabling(self, motor: int) -> Exchange:
        return self._order(motor, ENABLE)

    def decode(self, identifier: int, payload: bytes) -> Feedback:
        kind, id_ = divmod(identifier, 256)
        if kind != STATUS or id_ not in self.ids:
            raise ProtocolError(f"frame 0x{identifier:X} belongs to no motor")
        return Feedback(
            motor=self.ids.index(id_), position=float(payload), velocity=0.0, effort=0.0
        )

    def _order(self, motor: int, kind: int) -> Exchange:
        id_ = self.ids[motor]
        answer = STATUS << 8 | id_
        return Exchange(
            motor, ((kind << 8 | id_, b""),), lambda found, _: "" if found == answer else None
        )


class ScriptedBus(Bus):
    """Each frame is recorded and answered with a status, unless `refusal` is set, which is raised.

    A frame without a pause takes 0.1 ms.
    """

    def __init__(self, machine: Machine = LINUX) -> None:
        self._machine = machine
        self.sent: list[CanFrame] = []
        self.refusal: CanBusError | None = None
        self.broken: BaseException | None = None
        self.closed = False
        self.deaf: set[int] = set()
        self.measured: dict[int, bytes] = {}  # position by id, 0.5 rad by default
        self.noisy = False  # another sender floods the bus
        self.breaks_at: int | None = None  # the motor is silent after the first frame of this kind
        self._incoming: deque[Received] = deque()
        self._arrived = threading.Event()

    def put(self, received: Received) -> None:
        self._incoming.append(received)
        self._arrived.set()

    def receive(self, timeout: float) -> Received | None:
        if self.noisy and not self._incoming:
            self._machine.sleep(0.0001)
            return InvalidFrame("noise")
        if not self._incoming and timeout > 0.0 and self.broken is None:
            self._arrived.clear()
            self._machine.wait(self._arrived, timeout)
        if self.broken is not None:
            raise self.broken
        return self._incoming.popleft() if self._incoming else None

    def send(self, frame: CanFrame) -> None:
        if self.refusal is not None:
            raise self.refusal
        self.sent.append(frame)
        if frame[0] >> 8 == self.breaks_at:
            self.unplug()
        motor = frame[0] & 0xFF
        if motor not in self.deaf:
            self.put(DataFrame(STATUS << 8 | motor, self.measured.get(motor, b"0.5")))

    def state(self) -> ControllerState:
        return ControllerState.ACTIVE

    def refused(self) -> int:
        return 0

    def close(self) -> None:
        self.closed = True

    def another(self) -> ScriptedBus:
        """A new bus."""
        return ScriptedBus(self._machine)

    def unplug(self) -> None:
        self.broken = AdapterLostError("scripted: gone")
        self._arrived.set()


PLAIN = FamilyKind("plain", {}, {}, PlainFamily)
QUICK = Timing(enable_timeout=0.2, disable_timeout=0.2, poll=0.01, gains_refresh=1000.0)


@pytest.fixture
def time() -> SteppedTime:
    """The clock of `bus` and `rig`."""
    return SteppedTime()


@pytest.fixture
def bus(time: SteppedTime) -> ScriptedBus:
    """The bus that the next opening gives."""
    return ScriptedBus(time)


@pytest.fixture(name="rig", params=[50.0, 250.0], ids=["by threads", "by the loop"])
def scripted_rig(
    request: pytest.FixtureRequest,
    bus: ScriptedBus,
    time: SteppedTime,
    can_info: MakeInfo,
    can_rig: MakeRig,
) -> CanRig:
    """Two motors, 1 and 2, of the made-up family on `bus`, not yet activated.

    One rate is that of a fast loop, which does the I/O itself, the other of a loop with threads.
    """

    def open_bus(settings: BusSettings) -> Bus:
        return rig.open_bus(settings)  # as in the control process

    host = CanHost(machine=time, open_bus=open_bus)
    info = can_info([1, 2], "plain", update_rate=request.param)
    rig: CanRig = can_rig(system_of(PLAIN)(QUICK, host), info, time)
    rig.buses.append(bus)
    return rig


@pytest.fixture
def plain() -> FamilyKind:
    """The made-up family."""
    return PLAIN


@pytest.fixture
def quick() -> Timing:
    """Short time-outs, for tests that wait for them."""
    return QUICK


@pytest.fixture
def plain_bus() -> type[ScriptedBus]:
    """Makes buses in wall time."""
    return ScriptedBus
