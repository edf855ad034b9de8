"""`hc calibrate --flip`: another direction without a sweep, and without the robot."""

from __future__ import annotations

from pathlib import Path

from humanoid_bringup_prime.calibration.files import check_writable
from humanoid_bringup_prime.calibration.results import joint_result
from humanoid_bringup_prime.calibration.robot import read_robot
from humanoid_control_cli.calibrate_run import write
from prime_description.description import expand


def flip_only(
    joints: tuple[str, ...], calibration: Path | None, hardware: Path | None, output: Path | None
) -> int:
    """Flip `joints` in a calibration file; None: the installed files. Returns the exit code.

    Raises RobotError for an unknown joint and for a file that is wrong.
    """
    chosen = {"calibration_file": calibration, "hardware_config": hardware}
    robot = read_robot(expand({name: str(path) for name, path in chosen.items() if path}))
    robot.joints.indices(joints)
    target = output or robot.file
    check_writable(target)
    results = [
        joint_result(name, robot.prior[name], None, robot.limits[name], flip=name in joints)
        for name in robot.joints.names
    ]
    return write(results, robot, target)
