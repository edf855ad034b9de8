"""The behaviour of every robot, with any buses and motors."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import yaml
from humanoid_control_msgs.msg import MITCommand, SafetyStatus
from test_support.operator import LATCHED
from test_support.stepped.imports_in_ticks import ImportsInTicks
from test_support.stepped.stack import Stack

from humanoid_bringup.robot_package import find_robot
from humanoid_control_common.rules.modes import Mode
from humanoid_control_common.rules.reason_codes import NO_GUARD
from humanoid_controller_manager.hardware.urdf import RobotDescription, parse_robot_description
from humanoid_stepped.robot import CONTROL
from humanoid_twin.can.control import CanMethods

BLOCKS = {"can": "PrimeSitoCAN", "right_can": "LiteRightCAN"}
STRUCK = "right_wrist_pitch"  # a CAN motor of every robot


def described(stack: Stack) -> RobotDescription:
    return parse_robot_description(stack.robot.urdf, 200.0)


class Remote:
    """REMOTE with one command that is repeated. At first all joints hold their positions."""

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        stack.client.until(stack.has_finished_standby, "the end of STANDBY")
        stack.enter(Mode.REMOTE)
        self.names = list(described(stack).joints.names)
        truth, count = stack.control.joints(), len(self.names)
        self.command = MITCommand(
            joint_names=self.names,
            position=[truth[name]["position"] for name in self.names],
            velocity=[0.0] * count,
            effort=[0.0] * count,
            stiffness=[20.0] * count,
            damping=[2.0] * count,
        )
        topic = "/remote_policy_controller/command"
        self._publisher = stack.client.node.create_publisher(MITCommand, topic, 4)

    def until(self, condition: Callable[[], object], what: str) -> None:
        """Send the command until the condition holds."""

        def sent() -> object:
            self._publisher.publish(self.command)
            return condition()

        self._stack.client.until(sent, what)


def test_every_mode_is_entered_and_the_power_down_leaves_no_motor_enabled(
    any_robot: Stack,
) -> None:
    any_robot.enter(Mode.ZERO_TORQUE)
    any_robot.enter(Mode.DAMPING)
    any_robot.enter(Mode.STANDBY)
    remote = Remote(any_robot)
    remote.until(lambda: len(any_robot.client.statements) > 50, "a while in REMOTE")
    assert any_robot.client.now.mode == Mode.REMOTE
    assert any_robot.faults() == []
    answer = any_robot.client.call("/humanoid_control/power_down")
    assert answer.success
    blocks = described(any_robot).blocks
    assert [block.name in answer.message for block in blocks] == [True] * len(blocks)
    assert any_robot.ends(requested=False) == 0
    assert any_robot.enabled() == []


def test_no_tick_of_any_mode_imports_anything(
    any_robot: Stack, imports_in_ticks: ImportsInTicks
) -> None:
    any_robot.enter(Mode.STANDBY)
    remote = Remote(any_robot)
    remote.until(lambda: len(any_robot.client.statements) > 50, "a while in REMOTE")
    any_robot.push(60.0, "right_wrist_yaw")
    any_robot.falls()
    any_robot.push(0.0, "right_wrist_yaw")
    any_robot.pass_time(1.0)
    any_robot.client.clear_fault()
    any_robot.enter(Mode.ZERO_TORQUE)
    assert imports_in_ticks.found == set()
    assert imports_in_ticks.ticks > 100


def test_gains_of_every_tick_come_to_every_motor_that_takes_them(any_robot: Stack) -> None:
    any_robot.enter(Mode.STANDBY)
    remote = Remote(any_robot)
    count = len(remote.names)
    for step in range(5):
        remote.command.stiffness = [10.0 + step + 0.5 * joint for joint in range(count)]
        remote.command.damping = [1.0 + 0.1 * step + 0.05 * joint for joint in range(count)]
        wanted = {
            name: (stiffness, damping)
            for name, stiffness, damping in zip(
                remote.names, remote.command.stiffness, remote.command.damping, strict=True
            )
            if name in any_robot.motors()
        }

        def arrived(wanted: Mapping[str, tuple[float, float]] = wanted) -> bool:
            found = {name: it["firmware"] for name, it in any_robot.motors().items()}
            return all(
                (found[name]["stiffness"], found[name]["damping"])
                == (pytest.approx(stiffness, abs=0.04), pytest.approx(damping, abs=0.009))
                for name, (stiffness, damping) in wanted.items()
            )

        remote.until(arrived, f"the gains of step {step}")
    assert any_robot.client.now.mode == Mode.REMOTE


def test_a_target_beyond_the_limits_moves_no_joint_beyond_its_soft_limit(any_robot: Stack) -> None:
    any_robot.enter(Mode.STANDBY)
    remote = Remote(any_robot)
    limits = described(any_robot).limits
    joint = remote.names.index("left_wrist_roll")
    remote.command.position[joint] = 3.0
    last = [0.0]

    def rests() -> bool:
        truth = any_robot.control.joints()["left_wrist_roll"]
        last[0] = truth["position"]
        return truth["position"] > 0.3 and abs(truth["velocity"]) < 0.002

    remote.until(rests, "the end of the way")
    assert 0.5 < last[0] < float(limits.upper[joint])
    assert any_robot.client.now.mode == Mode.REMOTE


def test_a_joint_that_is_pushed_too_fast_ends_stiffness(any_robot: Stack) -> None:
    any_robot.enter(Mode.STANDBY)
    any_robot.push(60.0, "right_wrist_yaw")
    assert "right_wrist_yaw moves at" in any_robot.falls()


Act = Callable[[CanMethods, int], object]  # on a bus and the motor with an id


def nothing(_bus: CanMethods, _motor: int) -> None:
    """Do nothing: the fault ends by itself."""


STRIKES: dict[str, tuple[Act, Act]] = {  # the fault, and its end
    "unplugged": (lambda bus, _: bus.can_unplug(), lambda bus, _: bus.can_plug_in()),
    "bus off": (lambda bus, _: bus.can_bus_off(), nothing),
    "motor without power": (
        lambda bus, motor: bus.can_power_off(motor),
        lambda bus, motor: bus.can_power_on(motor),
    ),
    "motor frozen": (
        lambda bus, motor: bus.can_freeze(motor),
        lambda bus, motor: bus.can_freeze(motor, False),
    ),
    "motor at fault": (lambda bus, motor: bus.can_motor_fault(motor, 4), nothing),
}


@pytest.mark.parametrize("kind", STRIKES)
def test_a_fault_on_one_bus_softens_the_whole_robot_is_named_and_can_be_cleared(
    any_robot: Stack, kind: str
) -> None:
    stack = any_robot
    addresses = stack.control.bus_addresses()
    address = addresses[STRUCK]
    strike, mend = STRIKES[kind]
    bus = stack.control.bus(address["bus"])
    stack.enter(Mode.STANDBY)
    strike(bus, address["address"])
    reason = stack.falls()
    assert BLOCKS[address["bus"]] in reason or STRUCK in reason
    elsewhere = [
        it for it, at in stack.control.bus_addresses().items() if at["bus"] != address["bus"]
    ]
    stack.client.until(
        lambda: all(
            motor["firmware"]["stiffness"] == 0.0
            for joint, motor in stack.motors().items()
            if joint in elsewhere
        ),
        "the motors of the other bus to be soft",
    )
    stack.pass_time(0.5)
    mend(bus, address["address"])
    stack.damped()
    assert stack.faults() == []
    stack.enter(Mode.STANDBY)
    files = stack.robot.black_box_files.files
    stack.client.until(lambda: files, "a file of the black box")


@pytest.mark.parametrize("held", [False, True], ids=["killed", "held"])
def test_without_its_control_process_no_can_motor_stays_enabled(
    any_robot: Stack, held: bool
) -> None:
    """A guard process disables them on Prime, the watchdogs of the motors on Lite."""
    any_robot.enter(Mode.STANDBY)
    control = any_robot.processes[CONTROL]
    (control.hold if held else control.kill)()
    any_robot.pass_time(1.0)
    assert any_robot.enabled() == []


def without_watchdogs(folder: Path) -> Path:
    """The hardware file of Lite; no motor disables itself."""
    hardware = yaml.safe_load(find_robot("lite").drives.hardware.read_text())
    for bus in ("left_can", "right_can"):
        for row in hardware["joints"][bus].values():
            row["can_timeout"] = 0
    path = folder / "hardware.yaml"
    path.write_text(yaml.safe_dump(hardware, sort_keys=False))
    return path


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Stack:
    """Lite with motors that have no watchdog, in DAMPING."""
    folder = tmp_path_factory.mktemp("guarded")
    stack = Stack(folder, robot="lite", hardware_config=without_watchdogs(folder))
    stack.up()
    stack.damped()
    return stack


def test_motors_without_a_watchdog_have_a_guard_on_each_bus(guarded: Stack) -> None:
    guarded.processes[CONTROL].kill()
    guarded.pass_time(1.0)
    assert guarded.enabled() == []
    codes = {bus: guard.exit_code for bus, guard in guarded.robot.guards.items()}
    assert codes == {"left_can": 0, "right_can": 0}


def test_a_guard_that_has_died_is_reported_for_its_bus_alone_and_replaced(guarded: Stack) -> None:
    reports: list[SafetyStatus] = []
    guarded.client.listen(SafetyStatus, "/safety_status", reports.append, LATCHED)
    guarded.robot.guards["right_can"].process.killed = True
    guarded.client.until(
        lambda: any("no guard on socketcan right_can" in it.message for it in reports), "the report"
    )
    assert {it.source for it in reports if "no guard" in it.message} == {"LiteRightCAN"}
    stated = guarded.client.now
    assert (stated.mode, stated.reason_codes) == (Mode.DAMPING, [NO_GUARD.name])
    guarded.client.until(lambda: not guarded.client.now.reason_codes, "another guard")
    assert guarded.client.now.mode == Mode.DAMPING
    assert not guarded.robot.guards["right_can"].process.gone


WRONG: dict[str, tuple[Act, str]] = {
    "a motor is missing": (
        lambda bus, motor: bus.can_power_off(motor),
        r"LiteRightCAN: right_wrist_pitch \(id 26\): no answer",
    ),
    "a motor has another id": (
        lambda bus, motor: bus.can_change_id(motor, 99),
        r"LiteRightCAN: right_wrist_pitch \(id 26\): no answer",
    ),
    "an adapter is missing": (
        lambda bus, _: bus.can_unplug(),
        "right_can: there is no such adapter",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_bus_that_is_not_as_configured_ends_the_start_and_leaves_no_motor_enabled(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    stack = Stack(tmp_path, robot="lite")
    act, message = WRONG[name]
    act(stack.control.bus("right_can"), 26)
    stack.processes[CONTROL].start()
    assert stack.ends(requested=False) == 1
    assert re.search(message, capsys.readouterr().err)
    assert stack.enabled() == []


def test_swapped_adapters_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stack = Stack(tmp_path, robot="lite")
    adapters = stack.robot.virtual.adapters
    adapters["left_can"], adapters["right_can"] = adapters["right_can"], adapters["left_can"]
    stack.processes[CONTROL].start()
    assert stack.ends(requested=False) == 1
    assert stack.enabled() == []
    assert "no answer" in capsys.readouterr().err
