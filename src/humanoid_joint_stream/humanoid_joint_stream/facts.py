"""Constant facts about the robot and its joint stream, shared by controller and server."""

import json
from dataclasses import asdict, dataclass
from typing import Any, Final, Self

import numpy as np

from humanoid_control_common.errors import RobotError
from humanoid_control_common.robot.joints import FloatArray

SECOND: Final = 1_000_000_000  # [ns]


@dataclass(frozen=True, slots=True)
class EffortTable:
    """Limit of a joint's effort [Nm] by its position [rad], linear between the points."""

    position: tuple[float, ...]  # rising
    effort: tuple[float, ...]  # >= 0


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamFacts:
    """Joint arrays as tuples, in joint order."""

    pid: int  # of the control process
    process_start: int  # [clock ticks since boot]
    boot_id: str
    joints: tuple[str, ...]
    lower: tuple[float, ...]  # [rad] of targets
    upper: tuple[float, ...]  # [rad]
    velocity: tuple[float, ...]  # [rad/s]
    effort: tuple[float, ...]  # [Nm]
    effort_tables: dict[str, EffortTable]  # by joint, where the limit depends on the position
    capabilities: tuple[tuple[int, ...], ...]  # (5, n), rows as in JointCommand
    update_rate: float  # [Hz]
    stiffness: float  # [Nm/rad] of the mode
    damping: float  # [Nm*s/rad]
    fallback: str  # "damp" or "hold"
    resume_after_expiry: bool
    ignore_unsupported: bool
    max_horizon: int  # [ns]
    velocity_floor: float  # [rad/s]; 0: none

    @property
    def min_horizon(self) -> int:
        """The shortest sensible horizon [ns]: two ticks."""
        return round(2 * SECOND / self.update_rate)

    def to_bytes(self) -> bytes:
        """Return the facts as in the shared file."""
        return json.dumps(asdict(self)).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Return the facts in `data`. Raises RobotError if there are none."""
        try:
            plain: dict[str, Any] = json.loads(data)
            plain["effort_tables"] = {
                joint: EffortTable(tuple(it["position"]), tuple(it["effort"]))
                for joint, it in plain["effort_tables"].items()
            }
            plain["capabilities"] = tuple(tuple(row) for row in plain["capabilities"])
            lists = {key: tuple(value) for key, value in plain.items() if isinstance(value, list)}
            return cls(**(plain | lists))
        except (ValueError, TypeError, KeyError) as error:
            raise RobotError(f"the facts of the joint stream cannot be read: {error}") from error


class EffortLimits:
    """Limits of the efforts, which may depend on the positions."""

    def __init__(self, facts: StreamFacts) -> None:
        self._constant = np.array(facts.effort)
        self._tables = [
            (row, np.array(table.position), np.array(table.effort))
            for row, name in enumerate(facts.joints)
            if (table := facts.effort_tables.get(name)) is not None
        ]

    def at(self, position: FloatArray) -> FloatArray:
        """Return the limits [Nm] at the measured `position` [rad], both (n,).

        Where there is a table, the stricter of both counts.
        """
        if not self._tables:
            return self._constant
        found = self._constant.copy()
        for row, positions, efforts in self._tables:
            found[row] = min(found[row], np.interp(position[row], positions, efforts))
        return found
