"""Faults in the virtual robot of this ROS domain, by joint names."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from humanoid_bringup.virtual_robot import control_socket
from humanoid_control_cli.domain import robot_in_words, robot_namespace
from humanoid_control_cli.errors import NoAnswerError, RefusedError
from humanoid_twin.can.motors.families import MOTOR_FAMILIES
from humanoid_twin.erob.faults import DriveError
from humanoid_twin.errors import TwinError
from humanoid_twin.robot.actuators import BusAddress
from humanoid_twin.robot.control import RobotControl

_CLEAR: Final = "`hc clear-fault` enables it again"


def break_joint(joint: str, error: str | None) -> str:
    """Have the drive of `joint` find a fault: `error` of an eRob, its family's of a CAN motor.

    Raises RefusedError for what can't be, and NoAnswerError without a virtual robot.
    """
    with _robot() as robot:
        address = _address(robot, joint)
        if address["bus"]:
            if error is not None:
                raise RefusedError(f"{joint} has a CAN motor, which has no error codes: no --error")
            bus, motor = robot.bus(address["bus"]), address["address"]
            family = MOTOR_FAMILIES[bus.can_drives()[motor]["family"]]
            bus.can_motor_fault(motor, family.fault)
            return f"{joint} {family.effect}; {_CLEAR}"
        code = _code(error)
        robot.drive_error(address["address"], code)
    after = f"`hc twin mend {joint}` first, then " if code == DriveError.ENCODER_BATTERY else ""
    return f"{joint} reports 0x{code:04X}; {after}{_CLEAR}"


def mend_joint(joint: str) -> str:
    """Take away the cause of a fault that `hc clear-fault` alone does not clear.

    Raises RefusedError for an unknown joint, and NoAnswerError without a virtual robot.
    """
    with _robot() as robot:
        address = _address(robot, joint)
        if address["bus"]:
            motors = robot.bus(address["bus"]).can_drives()
            error = motors[address["address"]]["firmware"]["faults"]
        else:
            slave = address["address"]
            error = robot.drives()[slave]["error"]
            if error == DriveError.ENCODER_BATTERY:
                robot.change_battery(slave)
                return f"{joint} has a new battery; {_CLEAR}"
    if error:
        return f"the fault of {joint} has no lasting cause; {_CLEAR}"
    return f"nothing is wrong with {joint}"


@contextmanager
def _robot() -> Iterator[RobotControl]:
    where = robot_in_words()
    try:
        robot = RobotControl(control_socket(robot_namespace()))
    except TwinError:
        raise NoAnswerError(
            f"no virtual robot runs on {where} and this machine: start one with `hc up twin`, or "
            "set the ROS_DOMAIN_ID (and HC_NAMESPACE) of the one that is running"
        ) from None
    with robot:
        yield robot


def _address(robot: RobotControl, joint: str) -> BusAddress:
    addresses = robot.bus_addresses()
    if joint not in addresses:
        raise RefusedError(f"no joint '{joint}', there are {', '.join(addresses)}")
    return addresses[joint]


def _code(text: str | None) -> int:
    known = ", ".join(f"0x{code:04X}" for code in DriveError)
    try:
        return DriveError.POSITION_ERROR if text is None else DriveError(int(text, 0))
    except ValueError:
        raise RefusedError(f"'{text}' is no error code of an eRob, there are {known}") from None
