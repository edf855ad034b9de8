"""All of Prime on both buses."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest
from humanoid_control_msgs.msg import MITCommand
from std_msgs.msg import Bool
from test_support.arm_joints import ALL_JOINTS
from test_support.stepped.prime import SOFT, STIFF, Prime
from test_support.twin.prime_actuators import CAN_JOINTS, JOINTS

from humanoid_control_common.rules.modes import Mode
from humanoid_controller_manager.hardware.urdf import parse_robot_description
from humanoid_stepped.robot import CONTROL
from prime_description import expand

POSITION = 0x238201
PERIOD = 0.02  # [s] of the control loop
SLOW = 22  # CAN id of a motor that needs a second to enable
DAYS = [(1, 20), (2, 20), *(pytest.param(seed, 200, marks=pytest.mark.soak) for seed in range(9))]


def velocity_limits() -> dict[str, float]:
    """Return the velocity limits of the description [rad/s]."""
    found = parse_robot_description(expand({"use_sim": "true"}), 200.0)
    return dict(zip(found.joints.names, found.limits.velocity.tolist(), strict=True))


def test_a_motor_that_takes_a_second_to_be_enabled_does_not_fault_the_ring(built: Prime) -> None:
    built.control.can_delay_enable(SLOW, 1.0)
    built.up()
    assert [line for line in built.control.log() if line[2] == "fault"] == []
    assert "bring-up of the ring failed" not in built.text(CONTROL)
    assert built.faults() == []


def test_from_a_sagged_pose_no_joint_is_faster_than_its_limit_and_both_arms_stiffen_together(
    prime: Prime,
) -> None:
    for name in JOINTS:
        prime.push(2.0 if name.startswith("left") else -2.0, name)
    prime.pass_time(1.5)
    prime.push(0.0)
    prime.control.log()
    prime.control.record(7.0)
    prime.client.enter(Mode.STANDBY)
    assert prime.registers() == [STIFF] * 10
    written = [
        (slave, when)
        for when, slave, kind, detail in prime.control.log()
        if kind == "write" and detail["index"] << 8 | detail["subindex"] == POSITION
    ]
    left = max(when for slave, when in written if slave < 5)
    right = max(when for slave, when in written if slave >= 5)
    assert len(written) == 10
    assert abs(left - right) <= PERIOD
    prime.client.finish_standby()
    truth = prime.control.recorded()
    limits = velocity_limits()
    for column, name in enumerate(truth.names):
        assert np.abs(truth.velocity[:, column]).max() <= limits[name], name
    assert prime.faults() == []


def test_in_remote_the_wrists_follow_gains_of_every_tick_and_the_arms_keep_the_modes(
    prime: Prime,
) -> None:
    client = prime.client
    client.enter(Mode.STANDBY)
    client.finish_standby()
    client.enter(Mode.REMOTE)
    publisher = client.node.create_publisher(MITCommand, "/remote_policy_controller/command", 4)
    truth = prime.control.joints()
    pose = [truth[name]["position"] for name in ALL_JOINTS]
    for step in range(60):
        # Every wrist gets its own gains.
        wanted = {
            name: (10.0 + 0.25 * step + wrist, 1.0 + 0.02 * step + 0.1 * wrist)
            for wrist, name in enumerate(CAN_JOINTS.values())
        }
        gains = [wanted.get(name, (10.0 + 0.25 * step, 1.0)) for name in ALL_JOINTS]
        command = MITCommand(joint_names=ALL_JOINTS, position=pose, velocity=[0.0] * 14,
                             effort=[0.0] * 14, stiffness=[stiffness for stiffness, _ in gains],
                             damping=[damping for _, damping in gains])  # fmt: skip

        def arrived(command: MITCommand = command, wanted: Any = wanted) -> bool:
            publisher.publish(command)
            return all(
                prime.wrist_gains()[name] == pytest.approx(gains, abs=0.009)
                for name, gains in wanted.items()
            )

        client.until(arrived, f"the gains of step {step}")
        assert prime.registers() == [STIFF] * 10
    assert client.now.mode == Mode.REMOTE


def test_damped_and_guided_by_hands_the_robot_stays_calm(prime: Prime) -> None:
    prime.control.record(10.0)
    for second in range(10):
        for number, name in enumerate(JOINTS):
            prime.push(1.5 * math.sin(second + number), name)
        prime.pass_time(1.0)
    truth = prime.control.recorded()
    assert truth.time[-1] - truth.time[0] > 9.0
    # 1.5 Nm against 6 Nms/rad, 0.7 of it on an eRob: 0.36 rad/s, and more by gravity.
    assert np.abs(truth.velocity).max() < 4.0
    assert prime.client.now.mode == Mode.DAMPING
    assert prime.client.now.status_message == ""
    assert prime.faults() == []


def test_an_adapter_that_is_pulled_means_damping_and_comes_back_with_clear_fault(
    prime: Prime,
) -> None:
    prime.client.enter(Mode.STANDBY)
    prime.control.can_unplug()
    prime.client.until(lambda: prime.client.now.mode == Mode.DAMPING, "the fall")
    assert "PrimeSitoCAN" in prime.client.now.status_message
    prime.client.until(lambda: prime.registers() == [SOFT] * 10, "soft arms")
    prime.control.can_plug_in()
    prime.damped()
    assert prime.faults() == []
    prime.client.enter(Mode.STANDBY)


def test_bus_off_means_damping_and_is_named(prime: Prime) -> None:
    prime.client.enter(Mode.STANDBY)
    prime.control.can_bus_off()
    prime.client.until(lambda: prime.client.now.mode == Mode.DAMPING, "the fall")
    assert "PrimeSitoCAN" in prime.client.now.status_message
    prime.damped()
    assert prime.faults() == []


@pytest.mark.parametrize(("seed", "changes"), DAYS)
def test_a_days_work_ends_without_a_fault_and_with_all_off(
    prime: Prime, seed: int, changes: int
) -> None:
    """Random legal mode changes with payload and hands; then the end of the bring-up."""
    dice = random.Random(seed)
    prime.robot.scheduler.random.seed(seed)
    prime.control.payload("left_wrist_yaw_link", 0.5)
    for _ in range(changes):
        mode = Mode(prime.client.now.mode)
        ways = {
            Mode.ZERO_TORQUE: [Mode.DAMPING],
            Mode.DAMPING: [Mode.STANDBY, Mode.STANDBY, Mode.ZERO_TORQUE],
            Mode.STANDBY: [Mode.REMOTE, Mode.DAMPING],
            Mode.REMOTE: [Mode.DAMPING],
        }[mode]
        target = dice.choice(ways)
        if target is Mode.REMOTE:
            prime.client.until(prime.has_finished_standby, "the end of STANDBY")
        prime.push(dice.uniform(-1.0, 1.0), dice.choice(JOINTS))
        prime.client.standby.clear()  # states of an earlier STANDBY
        prime.client.enter(target)
        prime.pass_time(dice.uniform(0.05, 0.4))
        assert prime.client.now.mode == target, prime.client.now.status_message
        assert prime.faults() == []
    control = prime.processes[CONTROL]
    control.requests.in_order = True
    prime.client.until(lambda: not control.runs, "the end")
    assert control.code == 0
    all_are_off(prime)


def test_a_power_down_out_of_a_stop_leaves_gates_closed_and_motors_off(prime: Prime) -> None:
    """The stop comes during the motion of STANDBY and stays."""
    client, control = prime.client, prime.processes[CONTROL]
    client.reach(Mode.STANDBY)
    client.node.create_publisher(Bool, "/emergency_stop", 10).publish(Bool(data=True))
    answer = client.call("/humanoid_control/power_down")
    assert answer.message.split("; ")[0] == (
        "all joints are without torque: "
        "PrimeEtherCATSide (operation disabled, 0x2383 read back as 0), "
        "PrimeSitoCAN (every motor confirmed that it is disabled)"
    )
    assert answer.success
    client.until(lambda: not control.runs, "the end")
    assert control.code == 0
    all_are_off(prime)


def all_are_off(prime: Prime) -> None:
    """Gates are closed, no drive has an error, no motor is enabled."""
    assert {drive["gate"] for drive in prime.control.drives()} == {0}
    assert [d for d in prime.control.drives() if d["error"]] == []
    motors = prime.control.can_drives()
    assert sorted(motors) == sorted(CAN_JOINTS)
    assert not any(motor["firmware"]["enabled"] for motor in motors.values())
