"""The launch files of every robot: a launch file of a package only names its robot."""

from __future__ import annotations

from humanoid_bringup.launching.arguments import (
    BACKENDS,
    BLACK_BOX,
    CALIBRATION_FILE,
    CAN_BUSES,
    CONTROLLERS_FILE,
    DESCRIPTION,
    ENABLE_MODE_MANAGER,
    ETHERCAT_BUS,
    FULL_MIT,
    GAMEPAD,
    HARDWARE_CONFIG,
    HEARTBEATS,
    INITIAL_MODE,
    JOINT_STREAM,
    NAMESPACE,
    REAL_TIME_FACTOR,
    ROS_TOOLS,
    RVIZ_WANTED,
    SRDF,
    VIEWER_ADDRESS,
    Argument,
    file,
    flag,
)
from humanoid_bringup.launching.description import bring_up, launched
from humanoid_bringup.options import Backend
from humanoid_bringup.robot_package import find_robot
from humanoid_bringup.viewers.view_plan import model, workstation
from launch import LaunchDescription

_MODEL = (DESCRIPTION, SRDF)
_OPERATION = (INITIAL_MODE, ENABLE_MODE_MANAGER, *GAMEPAD, HEARTBEATS)
_TOOLS = (*VIEWER_ADDRESS, JOINT_STREAM, BLACK_BOX, *ROS_TOOLS)
_VIEWER = flag("viewer", True, "Browser viewer.")


def real(robot: str) -> LaunchDescription:
    """Describe the robot itself: control loop, modes and, if wanted, the viewer."""
    viewer = flag("viewer", False, "Browser viewer on this machine; better on another one.")
    chosen = (
        *(NAMESPACE, *_MODEL, BACKENDS, *_buses(robot), HARDWARE_CONFIG, CALIBRATION_FILE),
        *(CONTROLLERS_FILE, *_OPERATION, viewer, *_TOOLS),
    )
    return bring_up(robot, Backend.REAL, chosen)


def twin(robot: str) -> LaunchDescription:
    """Describe what `real` starts, and before it the virtual robot that answers on the wires."""
    actuators = file("actuators", "The virtual actuators, with their friction", "the robot's own")
    mountings = file("mountings", "How the virtual actuators sit on their joints", "straight")
    chosen = (
        *(
            NAMESPACE,
            *_MODEL,
            BACKENDS,
            HARDWARE_CONFIG,
            CALIBRATION_FILE,
            CONTROLLERS_FILE,
            actuators,
            mountings,
        ),
        *(*_OPERATION, _VIEWER, *_TOOLS),
    )
    return bring_up(robot, Backend.TWIN, chosen)


def mujoco(robot: str) -> LaunchDescription:
    """Describe the robot in MuJoCo: control loop, modes and browser viewer."""
    chosen = (
        *(NAMESPACE, *_MODEL, REAL_TIME_FACTOR, CONTROLLERS_FILE, *_full_mit(robot)),
        *(*_OPERATION, _VIEWER, *_TOOLS),
    )
    return bring_up(robot, Backend.MUJOCO, chosen)


def mock(robot: str) -> LaunchDescription:
    """Describe the robot without physics: a stiff joint is at its target at once."""
    chosen = (
        NAMESPACE,
        *_MODEL,
        CONTROLLERS_FILE,
        *_full_mit(robot),
        *_OPERATION,
        _VIEWER,
        *_TOOLS,
    )
    return bring_up(robot, Backend.MOCK, chosen)


def calibrate(robot: str) -> LaunchDescription:
    """Describe what `real` starts, in ZERO_TORQUE and without an impedance manager."""
    viewer = flag("viewer", False, "Browser viewer; it shows whether directions are right.")
    chosen = (
        *(NAMESPACE, DESCRIPTION, BACKENDS, *_buses(robot), HARDWARE_CONFIG, CALIBRATION_FILE),
        *(viewer, *_TOOLS),
    )
    return bring_up(robot, Backend.REAL, chosen, calibrate=True)


def view(robot: str) -> LaunchDescription:
    """Describe the model of the robot, standing still, in rviz and in the browser."""
    rviz = flag("rviz", True, RVIZ_WANTED)
    return launched(robot, (DESCRIPTION, HARDWARE_CONFIG, _VIEWER, *VIEWER_ADDRESS, rviz), model)


def viz(robot: str) -> LaunchDescription:
    """Describe the operator's workstation: a running robot in rviz and in the browser.

    It starts no program that commands by itself; the viewer's buttons send requests for modes.
    """
    viewer = flag("viewer", True, "Browser viewer and operator panel.")
    clock = flag("simulated", False, "The robot is simulated: rviz takes the time from /clock.")
    rviz = flag("rviz", True, RVIZ_WANTED)
    return launched(robot, (NAMESPACE, viewer, *VIEWER_ADDRESS, rviz, clock), workstation)


def _buses(robot: str) -> tuple[Argument, ...]:
    return (*((ETHERCAT_BUS,) if find_robot(robot).ring else ()), *CAN_BUSES)


def _full_mit(robot: str) -> tuple[Argument, ...]:
    return (FULL_MIT,) if find_robot(robot).ring else ()
