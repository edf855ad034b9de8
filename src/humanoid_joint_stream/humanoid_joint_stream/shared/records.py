"""The values that server and controller exchange through shared memory."""

import struct
from dataclasses import dataclass
from typing import Final, NamedTuple, Self

import numpy as np

from humanoid_joint_stream.command.executed_command import ExecutedCommand

_COMMAND: Final = struct.Struct("@QqqqqdI4x")


@dataclass(frozen=True, slots=True)
class SentCommand:
    """A command of the server, with the activation that it belongs to."""

    activation: int  # > 0
    key: int
    velocity_limit: float  # [rad/s]; inf: none
    command: ExecutedCommand

    @staticmethod
    def size(joints: int) -> int:
        """Return the size of `to_bytes` for a number of joints."""
        return _COMMAND.size + 5 * joints * 8

    def to_bytes(self) -> bytes:
        """Return it as in shared memory."""
        it = self.command
        head = _COMMAND.pack(
            self.activation,
            it.received,
            it.end,
            it.reference,
            it.extrapolation,
            self.velocity_limit,
            self.key,
        )
        return head + it.rows.tobytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Return the command in `data`."""
        activation, received, end, reference, extrapolation, limit, key = _COMMAND.unpack_from(data)
        rows = np.frombuffer(data, np.float64, -1, _COMMAND.size).reshape(5, -1)
        command = ExecutedCommand(rows, received, end, reference, extrapolation)
        return cls(activation, key, limit, command)


class Report(NamedTuple):
    """The controller's report of its latest tick. Times in [ns] of the robot's clock."""

    time: int = 0
    execution: int = 0  # Execution
    activation: int = 0  # the latest that it has seen
    ended: int = 0  # the latest activation that it has ended
    why_ended: int = 0  # EndReason
    applied_key: int = 0
    applied_time: int = 0  # first tick of that command
    applied_count: int = 0  # commands executed for at least one tick
    clipped_count: int = 0  # of these: with a position or load beyond its limit
    position_clipped: int = 0  # in this tick
    load_clipped: int = 0
    fault: int = 0  # number of the latest fault
    fault_joint: int = 0
    fault_time: int = 0
    fault_velocity: float = 0.0  # [rad/s]
    fault_limit: float = 0.0  # [rad/s]

    def to_bytes(self) -> bytes:
        """Return it as in shared memory."""
        return _REPORT.pack(*self)

    @classmethod
    def from_bytes(cls, data: bytes) -> "Report":
        """Return the report in `data`."""
        return cls(*_REPORT.unpack(data))


_REPORT: Final = struct.Struct("@14q2d")
REPORT_SIZE: Final = _REPORT.size
