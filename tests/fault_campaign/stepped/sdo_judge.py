"""Judge every SDO write when it leaves the master, after all checks of the stack.

The judge uses the published messages and the state of the drives, and no code of the stack.
"""

from __future__ import annotations

import math
from typing import Any, Final

from fault_campaign.judging.violation import Violation, ViolationType
from humanoid_control_common.rules.modes import SAFE_MODES
from humanoid_devices_erob.protocol.frame import Command, decode_frame
from humanoid_stepped.robot import SteppedRobot
from humanoid_stepped.stepped_machine import EPOCH
from humanoid_twin.ethercat.firmware import AlState

LIMIT: Final = 0.1  # [s] largest age of joint states: 5 periods of 50 Hz, by docs/ethercat.md
_ROUNDING: Final = 1e-6  # [s]
_FIRST_STATION: Final = 0x1001
_MAILBOX: Final = 0x1000  # the drives' SM0
_DOWNLOAD: Final = 1  # command specifier of SDO (ETG.1000.6), behind 8 bytes of headers
_GATE, _POSITION_GAIN = (0x2383, 0), (0x2382, 1)
_STATUSWORD: Final = 0x6041, 0
_STATE_BITS, _ENABLED = 0x6F, 0x27  # of the statusword: operation enabled (CiA 402)
_OPERATING: Final = (AlState.SAFEOP, AlState.OP)  # bring-up and exit write in the other states


class SdoJudge:
    """Records the violations of the SDO writes of a robot, each sort once."""

    def __init__(self, robot: SteppedRobot) -> None:
        self.violations: list[Violation] = []
        self.writes = 0
        ring, cable = robot.virtual.ring, robot.cable
        if ring is None or cable is None:
            raise ValueError("a robot without a ring gets no SDO writes to judge")
        self._scheduler, self._slaves = robot.scheduler, ring.slaves
        self._published = self._measured = -math.inf  # [s] of the latest joint states
        self._offset = 0  # [ns] of the system's clock when the latest joint states were published
        self._safe = False  # the latest statement has a safe mode
        self._found: set[str] = set()
        robot.bus.listeners.append(self._message)
        cable.departures.append(self._frame)

    @property
    def _now(self) -> float:
        return self._scheduler.now / 1e9

    def _message(self, topic: str, message: Any) -> None:
        if topic == "/prime/joint_states":
            if all(map(math.isfinite, message.position)):
                self._take(message.header.stamp)
        elif topic == "/control_mode" and message.controller_name:
            self._safe = message.mode in SAFE_MODES

    def _take(self, stamp: Any) -> None:
        offset = self._scheduler.system_offset
        measured = stamp.sec + stamp.nanosec / 1e9 - (EPOCH + offset) / 1e9
        # A stamp from before the clock was set has no meaning.
        self._measured = measured if offset == self._offset else self._now
        self._published, self._offset = self._now, offset

    def _frame(self, frame: bytes) -> None:
        for datagram in decode_frame(frame):
            mail = datagram.command == Command.FPWR and datagram.address >> 16 == _MAILBOX
            if mail and datagram.data[8] >> 5 == _DOWNLOAD:
                slave = (datagram.address & 0xFFFF) - _FIRST_STATION
                key = int.from_bytes(datagram.data[9:11], "little"), datagram.data[11]
                self._judge(slave, key, int.from_bytes(datagram.data[12:16], "little"))

    def _judge(self, number: int, key: tuple[int, int], value: int) -> None:
        slave = self._slaves[number]
        self.writes += 1
        if slave.al.state not in _OPERATING:
            return
        if key == _GATE and not value:
            status = slave.firmware.dictionary.entry(*_STATUSWORD).get()
            if isinstance(status, int) and status & _STATE_BITS != _ENABLED:
                return  # of the ordered exit
            self._convict("an enabled drive gets its factory gains", "stiff", number, key)
        age = self._now - min(self._published, self._measured)
        if age > LIMIT + _ROUNDING:
            self._convict(f"joint states are {age:.3f} s old", "old", number, key)
        if key == _POSITION_GAIN and value and self._safe:
            self._convict("a drive is made stiff in a safe mode", "stiff", number, key)

    def _convict(self, text: str, sort: str, slave: int, key: tuple[int, int]) -> None:
        if sort not in self._found:
            self._found.add(sort)
            where = f"0x{key[0]:04X}:{key[1]:02X} of slave {slave}"
            self.violations.append(
                Violation(ViolationType.SDO_WRITE, f"{where}: {text}", self._now)
            )
