"""A robot on one simulated clock, and an operator of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from humanoid_bringup.options import Options
from humanoid_bringup.robot_package import DEFAULT
from humanoid_control_common.rules.modes import Mode
from humanoid_stepped.participant import Participant
from humanoid_stepped.robot import CONTROL, IMPEDANCE, SteppedRobot, stepped_options
from humanoid_twin.can.motors.motor import MotorReport
from humanoid_twin.mounting import Mounting
from test_support.client import Client


class Stack:
    """The robot; no process runs before `up`.

    Args:
        folder: for its files.
        mountings: direction and offset of each drive on its joint.
        robot: its name.
        friction: of the virtual robot's joints, in the form of the file of its actuators, which it
        replaces there.
        options: of the bring-up.
    """

    def __init__(
        self,
        folder: Path,
        mountings: Mapping[str, Mounting] | None = None,
        robot: str = DEFAULT,
        friction: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        chosen = stepped_options(robot, **options)
        if friction is not None:
            chosen = _with_friction(chosen, folder, friction)
        self.robot = SteppedRobot(1, folder, chosen, mountings=mountings)
        self.control = self.robot.virtual.control
        self.joints = self.robot.virtual.joints  # in the plant's order
        self.operator = Participant(self.robot, "operator")
        self.client = Client(self.operator)
        self.processes = self.robot.processes
        self._lines: list[tuple[str, str]] = []
        self.robot.log.append(lambda process, _, text: self._lines.append((process, text)))

    def up(self, *labels: str) -> None:
        """Start these processes, or all; wait until the mode in force is confirmed."""
        for label in labels or self.processes:
            self.processes[label].start()
        self.client.connect()
        self._confirmed()

    def text(self, label: str) -> str:
        """Return the log of a process."""
        return "\n".join(text for process, text in self._lines if process == label)

    def pass_time(self, seconds: float) -> None:
        """Let simulated time pass."""
        self.robot.scheduler.run_for(seconds)

    def enter(self, mode: Mode) -> None:
        """Reach `mode`, before and after which the impedance of an EtherCAT ring is confirmed."""
        self._confirmed()
        self.client.reach(mode)
        self._confirmed()

    def damped(self) -> None:
        """Bring the robot to DAMPING without a fault."""
        self.client.reach(Mode.DAMPING)
        self.client.clear_fault()
        self._confirmed()

    def has_finished_standby(self) -> bool:
        """Return True if STANDBY has ended. Raises AssertionError if it is not in force."""
        assert self.client.now.mode == Mode.STANDBY, self.client.now.status_message
        return bool(self.client.standby and self.client.standby[-1].is_finished)

    def falls(self) -> str:
        """Wait until the robot is in DAMPING. Return the reason."""
        self.client.until(lambda: self.client.now.mode == Mode.DAMPING, "the fall")
        return str(self.client.now.status_message)

    def ends(self, requested: bool = True) -> int | None:
        """Wait for the end of the control process, in order if requested. Return its exit code."""
        control = self.processes[CONTROL]
        control.requests.in_order |= requested
        self.client.until(lambda: not control.runs, "the end")
        return control.code

    def push(self, torque: float, *joints: str) -> None:
        """Apply a torque [Nm] to these joints, or all, from outside."""
        for name in joints or self.joints:
            self.control.external_torque(name, torque)

    def motors(self) -> dict[str, MotorReport]:
        """Return the state of every CAN motor by joint."""
        return {
            joint: motor.report()
            for bus, can in self.robot.virtual.cans.items()
            for joint, motor in zip(self._on(bus), can.motors, strict=False)  # other devices last
        }

    def _on(self, bus: str) -> list[str]:
        return [it for it, at in self.control.bus_addresses().items() if at["bus"] == bus]

    def enabled(self) -> list[str]:
        """Return the joints whose CAN motors are enabled."""
        return [joint for joint, it in self.motors().items() if it["firmware"]["enabled"]]

    def faults(self) -> list[str]:
        """Return the faults of the drives."""
        return [
            f"motor of {joint}"
            for joint, motor in self.motors().items()
            if motor["firmware"]["faults"] or not motor["firmware"]["enabled"]
        ]

    def _confirmed(self) -> None:
        manager = self.processes.get(IMPEDANCE)
        if manager is not None and manager.runs:
            self.client.confirmed()


def _with_friction(options: Options, folder: Path, friction: Mapping[str, Any]) -> Options:
    """Return `options` with a virtual robot that has `friction`; its file is in `folder`."""
    robot, drives = options.robot, options.robot.drives
    actuators = yaml.safe_load(drives.virtual_robot.read_text()) | {"friction": dict(friction)}
    file = folder / "actuators.yaml"
    file.write_text(yaml.safe_dump(actuators))
    return replace(options, robot=replace(robot, drive_files=replace(drives, virtual_robot=file)))
