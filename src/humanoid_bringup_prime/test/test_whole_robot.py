"""All processes of Prime on both buses of a virtual robot in a separate process.

Tests in humanoid_stepped check the behaviour of the robot on one clock. These tests check the parts
of the machine: processes, the raw socket and the serial port.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from std_msgs.msg import Bool
from test_support.arm_joints import ALL_JOINTS
from test_support.ros.ros_domains import on_reserved_domain
from test_support.twin.prime_actuators import CAN_JOINTS, JOINTS, RING_JOINTS

from humanoid_bringup.options import Backend, Options
from humanoid_bringup.plan import plan
from humanoid_control_common.rules.modes import Mode
from humanoid_twin.ethercat.veth import VethError
from humanoid_twin.testing import robot as virtual_robot
from prime_description import expand

SOFT, STIFF = (0, 56, 0, 1), (515, 19, 0, 1)  # registers of DAMPING and STANDBY, gate open
STANDBY_WAY = 1.0  # [s] of each of its two motions: 3 and 2 with the controllers of the bring-up


class Prime:
    """The virtual robot, the processes of its bring-up, and an operator."""

    def __init__(
        self,
        virtual: Any,
        client: Any,
        tools: Any,
        folder: Path,
        controllers: Path,
    ) -> None:
        self.control, self.client = virtual.control, client
        running_type, command_line = tools
        options = Options(
            backend=Backend.REAL,
            ethercat_interface=virtual.interface,
            can_interface="slcan",
            can_channel=str(virtual.can),
            viewer=False,
            controllers_file=controllers,
        )
        self.interface = virtual.interface
        self._commands = {it.label: command_line(it) for it in plan(options, folder)}
        self._run = lambda label, log: running_type(self._commands[label], folder / log)
        self.running = {label: self._run(label, f"{label}.txt") for label in self._commands}
        client.connect()
        self.client.confirmed()

    def start(self, label: str) -> Any:
        """Start a process of the bring-up, also a second time."""
        return self._run(label, f"{label}_again.txt")

    def damped(self) -> None:
        """Bring the robot to DAMPING without a fault and without external torques."""
        for name in JOINTS:
            self.control.external_torque(name, 0.0)
        self.client.reach(Mode.DAMPING)
        self.client.clear_fault()
        self.client.confirmed()

    def faults(self) -> list[str]:
        """Return the faults of the drives."""
        erobs = [f"drive {i}: {d['error']:#x}" for i, d in enumerate(self.control.drives())
                 if d["error"]]  # fmt: skip
        sitos = [f"motor {i}" for i, d in self.control.can_drives().items()
                 if d["firmware"]["faults"] or not d["firmware"]["enabled"]]  # fmt: skip
        return erobs + sitos

    def registers(self) -> set[tuple[int, ...]]:
        """Return the values of the ten drives; one entry if all are equal."""
        return {
            (drive["pos_reg"], drive["vel_reg"], drive["integral"], drive["gate"])
            for drive in self.control.drives()
        }


@pytest.fixture(scope="module")
def domain() -> Iterator[int]:
    """A ROS domain of this run on this machine only."""
    with on_reserved_domain() as number:
        yield number


@pytest.fixture(scope="module")
def whole(
    domain: int,
    client_type: Any,
    running_type: Any,
    command_line: Any,
    controllers_with: Callable[[Path, float], Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Prime]:
    """Prime, up."""
    folder = tmp_path_factory.mktemp("whole")
    urdf = folder / "virtual.urdf"
    urdf.write_text(expand({}))
    with ExitStack() as cleanup:
        try:
            virtual = cleanup.enter_context(virtual_robot(urdf, mailbox_delay_ms=2.0))
        except VethError as error:
            pytest.skip(f"no pair of virtual network interfaces can be made: {error}")
        client = client_type()
        cleanup.callback(client.close)
        tools, controllers = (running_type, command_line), controllers_with(folder, STANDBY_WAY)
        prime = Prime(virtual, client, tools, folder, controllers)
        for label in reversed(prime.running):  # all of them, also after an error of one
            cleanup.callback(lambda it=label: sys.stdout.write(prime.running[it].text()))
            cleanup.callback(lambda it=label: prime.running[it].end())
        yield prime


@pytest.fixture
def prime(whole: Prime) -> Iterator[Prime]:
    """In DAMPING before and after the test."""
    whole.damped()
    yield whole
    if whole.running["control"].process.poll() is None:
        whole.damped()


def test_joint_states_have_the_true_positions_of_all_joints(prime: Prime) -> None:
    # Only at rest is the truth unchanged until the request.
    prime.client.until(
        lambda: max(abs(j["velocity"]) for j in prime.control.joints().values()) < 0.01, "rest"
    )
    prime.client.joint_states.clear()
    prime.client.until(lambda: prime.client.joint_states, "joint states")
    message, truth = prime.client.joint_states[0], prime.control.joints()
    assert tuple(message.name) == ALL_JOINTS
    for name, position in zip(message.name, message.position, strict=True):
        assert position == pytest.approx(truth[name]["position"], abs=0.002), name


def test_every_mode_reaches_the_drives(prime: Prime) -> None:
    prime.client.enter(Mode.STANDBY)
    assert prime.registers() == {STIFF}
    prime.client.finish_standby()
    prime.client.enter(Mode.REMOTE)
    assert prime.registers() == {STIFF}
    assert prime.client.now.status_message == ""
    prime.client.enter(Mode.DAMPING)
    assert prime.registers() == {SOFT}
    assert prime.faults() == []


def test_an_adapter_that_is_pulled_means_damping_and_comes_back_with_clear_fault(
    prime: Prime,
) -> None:
    prime.client.enter(Mode.STANDBY)
    prime.control.can_unplug()
    prime.client.until(lambda: prime.client.now.mode == Mode.DAMPING, "the fall")
    assert "PrimeSitoCAN" in prime.client.now.status_message
    prime.client.until(lambda: prime.registers() == {SOFT}, "soft arms")
    prime.control.can_plug_in()
    prime.damped()
    assert prime.faults() == []
    prime.client.enter(Mode.STANDBY)


def test_a_ring_whose_interface_goes_down_means_damping_and_comes_back_with_clear_fault(
    prime: Prime,
) -> None:
    prime.client.enter(Mode.STANDBY)
    subprocess.run(["ip", "link", "set", prime.interface, "down"], check=True)
    prime.client.until(lambda: prime.client.now.mode == Mode.DAMPING, "the fall")
    assert "PrimeEtherCAT" in prime.client.now.status_message
    subprocess.run(["ip", "link", "set", prime.interface, "up"], check=True)
    prime.damped()
    assert prime.faults() == []


def test_without_its_impedance_manager_the_robot_falls_and_a_new_one_confirms_again(
    prime: Prime,
) -> None:
    prime.client.enter(Mode.STANDBY)
    prime.running["impedance"].process.kill()
    prime.running["impedance"].wait()
    prime.client.until(lambda: prime.client.now.mode == Mode.DAMPING, "the fall")
    prime.running["impedance"] = prime.start("impedance")
    prime.damped()
    assert prime.registers() == {SOFT}


def test_a_second_control_process_is_refused_and_the_first_goes_on(prime: Prime) -> None:
    assert prime.start("control").wait() != 0
    prime.client.enter(Mode.STANDBY)


def test_a_power_down_out_of_a_stop_leaves_gates_closed_and_motors_off(whole: Prime) -> None:
    """The stop comes during the motion of STANDBY and stays; it is the last test of this robot."""
    whole.damped()
    whole.client.reach(Mode.STANDBY)
    stop = whole.client.node.create_publisher(Bool, "/emergency_stop", 10)
    whole.client.until(stop.get_subscription_count, "a subscriber of the stop")
    stop.publish(Bool(data=True))
    answer = whole.client.call("/humanoid_control/power_down")
    control = whole.running["control"]
    assert answer.message.split("; ")[0] == (
        "all joints are without torque: "
        "PrimeEtherCATSide (operation disabled, 0x2383 read back as 0), "
        "PrimeSitoCAN (every motor confirmed that it is disabled)"
    )
    assert answer.success
    assert control.wait() == 0, control.text()
    whole.running["impedance"].end()
    whole.running["black_box"].end()
    assert {drive["gate"] for drive in whole.control.drives()} == {0}
    assert [d for d in whole.control.drives() if d["error"]] == []
    motors = whole.control.can_drives()
    assert sorted(motors) == sorted(CAN_JOINTS)
    assert not any(motor["firmware"]["enabled"] for motor in motors.values())
    assert len(RING_JOINTS) + len(motors) == len(JOINTS)
    for running in whole.running.values():
        with pytest.raises(ProcessLookupError):
            os.killpg(running.process.pid, 0)


def test_no_process_of_the_stack_reads_the_truth() -> None:
    """/twin/joint_states is for displays and recordings: the real robot does not publish it."""
    root = Path(__file__).parents[2]
    readers = [
        file.relative_to(root).as_posix()
        for file in root.glob("**/*.py")
        if not {"humanoid_twin", "humanoid_stepped", "test"} & set(file.parts)
        and "twin/joint_states" in file.read_text()
    ]  # fmt: skip
    assert readers == ["humanoid_recording/humanoid_recording/topics.py"]
