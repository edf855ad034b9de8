"""All processes of Prime on both buses of a virtual robot in a separate process.

Tests in humanoid_stepped check the behaviour of the robot on one clock. These tests check the parts
of the machine: processes, the raw socket and the serial port.
"""

from __future__ import annotations

import functools
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from fault_campaign.disturbing.stalls import Stalls
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


ATTEMPTS = 3


def unless_held_up(test: Callable[..., None]) -> Callable[..., None]:
    """Begin a test again if it fails while other programs held this machine up.

    Watchers that do not depend on the robot report hold-ups. The test runner counts a second try.
    """

    @functools.wraps(test)
    def attempt(prime: Prime, **parameters: Any) -> None:
        for _ in range(ATTEMPTS - 1):
            begin = time.monotonic()
            try:
                return test(prime, **parameters)
            except AssertionError as error:
                if not prime.excuse(begin, error):
                    raise
            prime.damped()
        return test(prime, **parameters)

    return attempt


class Prime:
    """The virtual robot, the processes of its bring-up, and an operator."""

    def __init__(
        self,
        virtual: Any,
        client: Any,
        tools: Any,
        folder: Path,
        controllers: Path,
        stalls: Stalls,
    ) -> None:
        self.control, self.client = virtual.control, client
        self.properties: list[tuple[str, object]] = []  # of the test that runs
        self._stalls = stalls
        running_type, command_line = tools
        options = Options(
            backend=Backend.REAL,
            ethercat_interface=virtual.interface,
            can_interface="slcan",
            can_channel=str(virtual.can),
            viewer=False,
            controllers_file=controllers,
        )
        self.running = {
            process.label: running_type(command_line(process), folder / f"{process.label}.txt")
            for process in plan(options, folder)
        }
        client.connect()
        self.client.confirmed()

    def damped(self) -> None:
        """Bring the robot to DAMPING without a fault and without external torques."""
        for name in JOINTS:
            self.control.external_torque(name, 0.0)
        self.client.reach(Mode.DAMPING)
        self.client.clear_fault()
        self.client.confirmed()

    def excuse(self, begin: float, error: AssertionError) -> bool:
        """Report whether this machine was held up since `begin` [s, monotonic]."""
        gap = self._stalls.worst(begin, time.monotonic())
        if gap:
            remark = f"held up for {gap * 1e3:.0f} ms: {str(error).partition(chr(10))[0]}"
            self.properties.append(("second try", remark))
        return gap > 0.0

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
        stalls = cleanup.enter_context(Stalls())
        tools, controllers = (running_type, command_line), controllers_with(folder, STANDBY_WAY)
        prime = Prime(virtual, client, tools, folder, controllers, stalls)
        for running in reversed(prime.running.values()):  # all of them, also after an error of one
            cleanup.callback(lambda ended=running: sys.stdout.write(ended.text()))
            cleanup.callback(running.end)
        yield prime


@pytest.fixture
def prime(whole: Prime, request: pytest.FixtureRequest) -> Iterator[Prime]:
    """In DAMPING before and after the test."""
    whole.properties = request.node.user_properties
    whole.damped()
    yield whole
    if whole.running["control"].process.poll() is None:
        whole.damped()


@unless_held_up
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


@unless_held_up
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


@unless_held_up
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
