"""A CAN client moves the wrists of the body that the drives on the ring move."""

import math
from collections.abc import Iterator

import can
import pytest
from test_support.twin.prime_actuators import CAN_JOINTS, JOINTS

from humanoid_devices_sito.codec import (
    RESET_PAYLOAD,
    Command,
    ControlMode,
    Feedback2,
    Gains,
    MessageType,
    SelectMode,
    identifier,
)
from humanoid_twin.testing import Robot

COUNTS = 65536 / math.tau  # per rad (actuator documents)
LEFT_ROLL = 22


class Host:
    """python-can at the robot's serial line."""

    def __init__(self, robot) -> None:
        self.control = robot.control
        self.bus = can.Bus(
            interface="slcan", channel=str(robot.can), bitrate=10**6, sleep_after_open=0.0
        )

    def send(self, device: int, kind: MessageType, payload: bytes) -> None:
        """Put a frame into the adapter's queue; wait until it is there."""
        waiting = self.control.can_statistics()["adapter_waiting"]
        self.bus.send(can.Message(arbitration_id=identifier(device, kind), data=payload))
        while self.control.can_statistics()["adapter_waiting"] == waiting:
            pass  # the serial line has a delay; the bus has none, as its clock is stopped

    def enable(self, device: int, stiffness: float, damping: float) -> None:
        self.send(device, MessageType.GAINS, Gains(stiffness / 688.58, damping / 1.125).encode())
        self.send(device, MessageType.SELECT_MODE, SelectMode(ControlMode.MIT, 5, 5, 0).encode())
        self.control.advance(0.002)

    def aim(self, device: int, position: float) -> None:
        command = Command(0, 0, round(position * COUNTS))
        self.send(device, MessageType.COMMAND, command.encode())

    def positions(self, device: int) -> list[float]:
        """Return the position that the motor has sent last [rad]."""
        wanted, found = identifier(device, MessageType.FEEDBACK_2), []
        while (message := self.bus.recv(0.05)) is not None:
            if message.arbitration_id == wanted:
                found.append(Feedback2.decode(bytes(message.data)).position / COUNTS)
        return found


@pytest.fixture
def host(stepped: Robot) -> Iterator[Host]:
    """All motors are disabled and all joints at rest."""
    stepped.control.can_power_off()
    stepped.control.can_power_on()
    for name in JOINTS:
        stepped.control.set_joint(name, 0.0)
    host = Host(stepped)
    yield host
    host.bus.shutdown()


def test_four_motors_are_on_the_joints_of_the_documents(host):
    for device, name in CAN_JOINTS.items():
        host.control.set_joint(name, device / 100)
    host.control.advance(0.001)
    found = {device: drive["joint_position"] for device, drive in host.control.can_drives().items()}
    assert found == pytest.approx({device: device / 100 for device in CAN_JOINTS}, abs=2e-3)


def test_a_motor_holds_its_joint_with_the_gains_it_was_given(host):
    host.enable(LEFT_ROLL, 20.0, 2.0)
    host.aim(LEFT_ROLL, 0.3)
    host.control.advance(1.5)
    truth = host.control.joints()["left_wrist_roll"]
    assert truth["torque"] == pytest.approx(20.0 * (0.3 - truth["position"]), rel=0.01, abs=0.01)
    assert truth["position"] == pytest.approx(0.3, abs=0.05)
    host.control.external_torque("left_wrist_roll", 1.0)
    host.control.advance(1.5)
    loaded = host.control.joints()["left_wrist_roll"]
    assert loaded["position"] - truth["position"] == pytest.approx(1.0 / 20.0, rel=0.05)
    host.control.external_torque("left_wrist_roll", 0.0)


def test_feedback_of_a_wrist_is_the_position_of_the_body(host):
    host.enable(LEFT_ROLL, 0.0, 0.0)
    host.control.set_joint("left_wrist_roll", 0.25)
    host.control.advance(0.05)
    found = host.positions(LEFT_ROLL)
    assert 9 <= len(found) <= 12  # one in 5 ms
    truth = host.control.joints()["left_wrist_roll"]["position"]
    assert found[-1] == pytest.approx(truth, abs=0.01)


def test_torque_of_a_wrist_moves_the_joints_of_the_arm(host):
    """Action and reaction: a motor on the CAN bus moves a joint of a drive on the ring."""
    host.enable(LEFT_ROLL, 60.0, 0.5)
    host.aim(LEFT_ROLL, 0.6)
    host.control.record(0.1)
    host.control.advance(0.1)
    motion = host.control.recorded().position[-1]
    assert abs(motion[JOINTS.index("left_shoulder_roll")]) > 1e-3
    assert abs(motion[JOINTS.index("right_shoulder_roll")]) < 1e-3


def test_a_disabled_motor_gives_no_torque(host):
    host.enable(LEFT_ROLL, 60.0, 2.0)
    host.aim(LEFT_ROLL, 0.5)
    host.control.advance(0.01)
    assert host.control.joints()["left_wrist_roll"]["torque"] > 1.0
    host.send(LEFT_ROLL, MessageType.RESET, RESET_PAYLOAD)
    host.control.advance(0.01)
    assert host.control.joints()["left_wrist_roll"]["torque"] == 0.0
