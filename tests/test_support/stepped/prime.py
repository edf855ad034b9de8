"""Prime on one simulated clock, and an operator of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from humanoid_twin.mounting import Mounting
from test_support.stepped.stack import Stack
from test_support.twin.prime_actuators import CAN_JOINTS

MAILBOX_DELAY: Final = 0.002  # [s] of the drives
# Registers by the documents: 51.47 kp/kd, 9.408 kd, 0; rounded. And the gate.
LIMP: Final = (0, 0, 0, 1)
SOFT: Final = (0, 56, 0, 1)
STIFF: Final = (515, 19, 0, 1)


class Prime(Stack):
    """Prime with its ring; no process runs yet. Arguments are those of Stack."""

    def __init__(
        self, folder: Path, mountings: Mapping[str, Mounting] | None = None, **options: Any
    ) -> None:
        super().__init__(folder, mountings, **options)
        self.control.mailbox_delay(MAILBOX_DELAY)

    def faults(self) -> list[str]:
        """Return the faults of the drives."""
        erobs = [f"drive {i}: {d['error']:#x}" for i, d in enumerate(self.control.drives())
                 if d["error"]]  # fmt: skip
        return erobs + super().faults()

    def wrist_gains(self) -> dict[str, tuple[float, float]]:
        """Return the stiffness [Nm/rad] and damping [Nm s/rad] that act in each wrist motor."""
        return {
            CAN_JOINTS[int(number)]: (motor["firmware"]["stiffness"], motor["firmware"]["damping"])
            for number, motor in self.control.can_drives().items()
        }

    def registers(self) -> list[tuple[int, ...]]:
        """Registers of gains, and the gate, of the ten drives."""
        return [
            (drive["pos_reg"], drive["vel_reg"], drive["integral"], drive["gate"])
            for drive in self.control.drives()
        ]

    def writes(self) -> list[tuple[int, int, int]]:
        """Return the writes since the last call: slave, object, value."""
        return [
            (slave, int(detail["index"]) << 8 | int(detail["subindex"]), int(detail["value"]))
            for _, slave, kind, detail in self.control.log()
            if kind == "write"
        ]
