"""One calibration from start to results: sweeps, flipped joints, the limp drive. No ROS."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from humanoid_bringup.calibration.limp_drive import LimpDrives, mode_obstacle
from humanoid_bringup.calibration.results import JointResult, joint_result
from humanoid_bringup.calibration.robot import Robot
from humanoid_bringup.calibration.sweep import SweepRecorder
from humanoid_devices_erob.impedance.values import ModeInForce


@dataclass(frozen=True, slots=True)
class JointRow:
    """One joint's row on the operator's screen."""

    result: JointResult
    raw: float  # [rad] now; NaN: not seen
    selected: bool
    loose: bool  # limp, or limp by itself


class CalibrationSession:
    """Combines the robot's messages with the operator's keys."""

    def __init__(self, robot: Robot, limp_drives: LimpDrives) -> None:
        self.robot = robot
        self.limp_drives = limp_drives
        self.mode_in_force: ModeInForce | None = None  # mode and switch number in force
        self._selected = ""
        self._recorder = SweepRecorder(robot.joints, robot.in_force)
        self._flips: set[str] = set()

    @property
    def selected(self) -> str:
        """The joint to be moved; empty: none."""
        if self._selected in self.robot.drives:
            return self.limp_drives.selected  # which may have been dropped
        return self._selected

    def obstacle_of(self, joint: str) -> str:
        """Return why `joint` is not limp; empty if it is."""
        if joint not in self.robot.drives:
            return mode_obstacle(self.mode_in_force)
        drives = self.limp_drives
        return "" if drives.limp_joint == joint else drives.message or "no answer"

    def joints_seen(self, names: list[str], positions: list[float], now: float) -> None:
        """Take a message of /prime/joint_states that arrived at `now` [s]."""
        self.limp_drives.joints_seen(names, positions, now)
        # The selected joint only: wrists swing when an arm is moved, which is no sweep.
        selected = np.array([name == self.selected for name in self.robot.joints.names])
        self._recorder.seen(names, positions, self._loose() & selected)

    def select(self, joint: str) -> None:
        """Select the joint to move, and make it limp if it is an eRob; "": none.

        Raises ConfigError for a joint that the robot doesn't have.
        """
        if joint:
            self.robot.joints.indices([joint])
        self._selected = joint
        self.limp_drives.select(joint if joint in self.robot.drives else "")

    def select_next(self, by: int) -> None:
        """Select the next (1) or the previous joint (-1), beginning with the first or the last."""
        names = self.robot.joints.names
        if self.selected:
            place = (names.index(self.selected) + by) % len(names)
        else:
            place = 0 if by > 0 else -1
        self.select(names[place])

    def flip(self, joint: str) -> None:
        """Reverse the direction of `joint`. Raises ConfigError for an unknown joint."""
        self.robot.joints.indices([joint])
        self._flips ^= {joint}

    def forget(self, joint: str) -> None:
        """Begin the sweep of `joint` again."""
        (place,) = self.robot.joints.indices([joint])
        self._recorder.forget(int(place))

    def results(self) -> list[JointResult]:
        """Return the results of all joints, in order."""
        return [
            joint_result(
                name,
                self.robot.prior[name],
                self._recorder.sweep(place),
                self.robot.limits[name],
                flip=name in self._flips,
            )
            for place, name in enumerate(self.robot.joints.names)
        ]

    def rows(self) -> list[JointRow]:
        """Return all joints, in order."""
        loose = self._loose()
        return [
            JointRow(
                result,
                float(self._recorder.raw[place]),
                result.joint == self.selected,
                bool(loose[place]),
            )
            for place, result in enumerate(self.results())
        ]

    def _loose(self) -> NDArray[np.bool_]:
        loose = {self.limp_drives.limp_joint}
        if not mode_obstacle(self.mode_in_force):
            loose |= self.robot.loose
        return np.array([name in loose for name in self.robot.joints.names])
