"""Prime on one simulated clock, and an operator of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from humanoid_control_common.modes import Mode
from humanoid_stepped.participant import Participant
from humanoid_stepped.robot import IMPEDANCE, SteppedRobot, stepped_options
from humanoid_twin.mounting import Mounting
from humanoid_twin.prime import CAN_JOINTS, JOINTS
from test_support.client import Client

MAILBOX_DELAY: Final = 0.002  # [s] of the drives
# Registers by the documents: 51.47 kp/kd, 9.408 kd, 0; rounded. And the gate.
LIMP: Final = (0, 0, 0, 1)
SOFT: Final = (0, 56, 0, 1)
STIFF: Final = (515, 19, 0, 1)


class Prime:
    """The robot, of which nothing runs yet; see `up`.

    Args:
        folder: for its files.
        mountings: direction and offset of each drive on its joint.
        options: of the bring-up.
    """

    def __init__(
        self, folder: Path, mountings: Mapping[str, Mounting] | None = None, **options: Any
    ) -> None:
        self.robot = SteppedRobot(1, folder, stepped_options(**options), mountings=mountings)
        self.control = self.robot.virtual.control
        self.control.mailbox_delay(MAILBOX_DELAY)
        self.operator = Participant(self.robot, "operator")
        self.client = Client(self.operator)
        self.processes = self.robot.processes
        self._lines: list[tuple[str, str]] = []
        self.robot.log.append(lambda process, _, text: self._lines.append((process, text)))

    def up(self, *labels: str) -> None:
        """Start these processes, or all; wait until what is in force is confirmed."""
        for label in labels or self.processes:
            self.processes[label].start()
        self.client.connect()
        manager = self.processes.get(IMPEDANCE)
        if manager is not None and manager.runs:
            self.client.confirmed()

    def text(self, label: str) -> str:
        """Return what a process has logged."""
        return "\n".join(text for process, text in self._lines if process == label)

    def pass_time(self, seconds: float) -> None:
        """Let simulated time pass."""
        self.robot.scheduler.run_for(seconds)

    def damped(self) -> None:
        """Bring it to DAMPING without a fault."""
        self.client.reach(Mode.DAMPING)
        self.client.clear_fault()
        self.client.confirmed()

    def has_finished_standby(self) -> bool:
        """Whether STANDBY has come to its end. Raises AssertionError if it is not in force."""
        assert self.client.now.mode == Mode.STANDBY, self.client.now.status_message
        return bool(self.client.standby and self.client.standby[-1].is_finished)

    def push(self, torque: float, *joints: str) -> None:
        """Apply a torque [Nm] to these joints, or all, from outside."""
        for name in joints or JOINTS:
            self.control.external_torque(name, torque)

    def faults(self) -> list[str]:
        """Return the faults of the drives."""
        erobs = [f"drive {i}: {d['error']:#x}" for i, d in enumerate(self.control.drives())
                 if d["error"]]  # fmt: skip
        sitos = [f"motor {i}" for i, d in self.control.can_drives().items()
                 if d["firmware"]["faults"] or not d["firmware"]["enabled"]]  # fmt: skip
        return erobs + sitos

    def wrist_gains(self) -> dict[str, tuple[float, float]]:
        """Stiffness [Nm/rad] and damping [Nm s/rad] that each wrist motor acts with."""
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
        """What has been written since the last look: slave, object, value."""
        return [
            (slave, int(detail["index"]) << 8 | int(detail["subindex"]), int(detail["value"]))
            for _, slave, kind, detail in self.control.log()
            if kind == "write"
        ]
