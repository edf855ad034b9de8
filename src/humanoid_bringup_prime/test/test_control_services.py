"""The services of `ros2 control`: their effects on a robot, and their refusals."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from humanoid_control_msgs.msg import ControlMode, SafetyStatus
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter

srv = pytest.importorskip(
    "controller_manager_msgs.srv",
    reason="controller_manager_msgs is not installed: `ros2 control` is not served here",
)
from controller_manager_msgs.msg import ControllerManagerActivity  # noqa: E402

ROOT = Path(__file__).resolve().parents[3]
STRICT = srv.SwitchController.Request.STRICT
NAMES = [
    "joint_state_broadcaster", "zero_torque_controller", "damping_controller",
    "standby_controller", "rl_policy_controller", "remote_policy_controller",
]  # fmt: skip
GAINS = ("stiffness", "damping")
CLAIMED = 10 * 3 + 4 * 5  # command interfaces of Prime's joints
# Takes longer to configure than the loop waits for a heartbeat, and ten times its period.
SLOW = """
import time
from humanoid_controllers.passive_controllers import DampingController
class Slow(DampingController):
    def on_configure(self, parameters, robot):
        time.sleep(1.0)
        super().on_configure(parameters, robot)
"""
# Errors of other packages.
BROKEN = """
from humanoid_controllers.passive_controllers import DampingController
class Crooked(DampingController):
    def on_configure(self, parameters, robot):
        raise SystemExit(2)
class Lost(DampingController):
    @property
    def gains(self):
        return {}[0]
class Mute(DampingController): pass
def attach(host, controller):
    raise KeyError("topic")
"""
BROKEN_POINTS = """
[humanoid_control.controllers]
broken/Crooked = broken:Crooked
broken/Lost = broken:Lost
broken/Mute = broken:Mute
broken/Gone = broken_at_import:Gone
[humanoid_control.ros]
broken/Mute = broken:attach
"""


class Manager:
    """Calls the services of the controller manager."""

    def __init__(self, client: Any) -> None:
        self.client = client

    def call(self, kind: type, service: str, /, **fields: Any) -> Any:
        proxy = self.client.node.create_client(kind, f"/controller_manager/{service}")
        self.client.until(proxy.service_is_ready, service)
        future = proxy.call_async(kind.Request(**fields))  # type: ignore[attr-defined]
        self.client.until(future.done, f"an answer of {service}")
        self.client.node.destroy_client(proxy)
        return future.result()

    def states(self) -> dict[str, str]:
        listed = self.call(srv.ListControllers, "list_controllers").controller
        return {controller.name: controller.state for controller in listed}

    def switch(self, activate: list[str], deactivate: list[str]) -> Any:
        return self.call(
            srv.SwitchController, "switch_controller",
            activate_controllers=activate, deactivate_controllers=deactivate, strictness=STRICT,
        )  # fmt: skip

    def load(self, name: str) -> bool:
        return bool(self.call(srv.LoadController, "load_controller", name=name).ok)

    def configure(self, name: str) -> bool:
        return bool(self.call(srv.ConfigureController, "configure_controller", name=name).ok)

    def unload(self, name: str) -> bool:
        return bool(self.call(srv.UnloadController, "unload_controller", name=name).ok)

    def set(self, name: str, value: Any) -> bool:
        message = Parameter(name, value=value).to_parameter_msg()
        answer = self.call(SetParameters, "set_parameters", parameters=[message])
        return bool(answer.results[0].successful)

    def enter_standby(self) -> None:
        assert self.switch(["damping_controller"], ["zero_torque_controller"]).ok
        assert self.switch(["standby_controller"], ["damping_controller"]).ok
        self.client.until(lambda: self.client.now.mode == ControlMode.STANDBY, "STANDBY")


@pytest.fixture
def running(start_control: Callable[..., Any], client: Any) -> Any:
    process = start_control()
    client.connect()
    return process


@pytest.fixture
def manager(running: Any, client: Any) -> Manager:
    return Manager(client)


def test_controllers_are_listed_in_the_order_of_their_file_with_what_they_claim(
    manager: Manager,
) -> None:
    states = manager.states()
    assert list(states) == NAMES
    assert [name for name in NAMES if states[name] == "active"] == NAMES[:2]
    assert set(states.values()) == {"active", "inactive"}
    listed = {c.name: c for c in manager.call(srv.ListControllers, "list_controllers").controller}
    claimed = listed["zero_torque_controller"].claimed_interfaces
    assert len(claimed) == CLAIMED
    # An eRob joint takes no velocity and effort per tick; a wrist on CAN takes all five.
    assert list(claimed[:3]) == [f"left_shoulder_pitch/{it}" for it in ("position", *GAINS)]
    assert {f"left_wrist_roll/{it}" for it in ("velocity", "effort")} < set(claimed)
    standby = listed["standby_controller"]
    assert list(standby.claimed_interfaces) == []
    kinds = {name.split("/")[1] for name in standby.required_command_interfaces}
    assert kinds == {"position", "stiffness", "damping"}
    assert len(standby.required_state_interfaces) == 14 * 3


def test_hardware_is_listed_and_stays_active(manager: Manager) -> None:
    (component,) = manager.call(srv.ListHardwareComponents, "list_hardware_components").component
    found = component.name, component.plugin_name, component.state.label
    assert found == ("PrimeMock", "mock_components/GenericSystem", "active")
    interfaces = manager.call(srv.ListHardwareInterfaces, "list_hardware_interfaces")
    assert len(interfaces.command_interfaces) == 14 * 5
    assert {i.data_type for i in interfaces.command_interfaces} == {"double"}
    assert sum(i.is_claimed for i in interfaces.command_interfaces) == CLAIMED
    kind = srv.SetHardwareComponentState
    answer = manager.call(kind, "set_hardware_component_state", name="PrimeMock")
    assert (answer.ok, answer.state.label) == (False, "active")


def test_a_switch_by_service_obeys_the_rules_of_control_mode(manager: Manager) -> None:
    client = manager.client
    answer = manager.switch(["standby_controller"], ["zero_torque_controller"])
    rule = "Rejected LOAD: requires DAMPING (currently ZERO_TORQUE)"
    assert (answer.ok, answer.message) == (False, rule)
    client.until(lambda: client.now.status_message == rule, "the refusal on /control_mode")
    manager.enter_standby()
    answer = manager.switch(["remote_policy_controller"], ["standby_controller"])
    assert not answer.ok
    assert "requires STANDBY to be finished" in answer.message
    client.finish_standby()
    assert manager.switch(["remote_policy_controller"], ["standby_controller"]).ok
    assert manager.states()["remote_policy_controller"] == "active"
    client.until(lambda: client.now.mode == ControlMode.REMOTE, "REMOTE")


def test_an_activation_alone_is_a_request_for_the_mode_of_the_controller(manager: Manager) -> None:
    # As by the spawner, and by `set_controller_state … active`.
    refused = manager.switch(["standby_controller"], [])
    rule = "Rejected LOAD: requires DAMPING (currently ZERO_TORQUE)"
    assert (refused.ok, refused.message) == (False, rule)
    for name in ("damping_controller", "standby_controller", "damping_controller"):
        assert manager.switch([name], []).ok
        assert manager.states()[name] == "active"


def test_switch_service_refuses_after_a_fall_until_the_fault_is_cleared(manager: Manager) -> None:
    client = manager.client
    manager.enter_standby()
    client.report(SafetyStatus.FAULT, "bench found a loose screw")
    client.until(lambda: client.now.mode == ControlMode.DAMPING, "the fall")
    client.report(SafetyStatus.OK, "")
    for activate in (["standby_controller"], ["zero_torque_controller"], []):
        answer = manager.switch(activate, ["damping_controller"])
        assert not answer.ok
        assert "call clear_fault first" in answer.message
    assert manager.states()["damping_controller"] == "active"
    client.clear_fault()
    assert manager.switch(["standby_controller"], ["damping_controller"]).ok


def test_deactivated_controller_in_charge_is_replaced_along_the_safe_chain(
    manager: Manager,
) -> None:
    manager.enter_standby()
    for name, follower in (
        ("standby_controller", "damping_controller"),
        ("damping_controller", "zero_torque_controller"),
    ):
        answer = manager.switch([], [name])
        assert answer.ok
        assert f"'{follower}' is in charge now" in answer.message
    answer = manager.switch([], ["zero_torque_controller"])
    assert not answer.ok
    assert "last of the safe controllers" in answer.message


def test_mode_manager_uses_loaded_controllers_and_refuses_unloaded_ones(manager: Manager) -> None:
    client = manager.client
    client.reach(ControlMode.DAMPING)
    assert manager.unload("standby_controller")
    client.request(ControlMode.STANDBY)
    assert client.now.status_message == "Rejected LOAD: no controller for STANDBY is loaded"
    assert manager.load("standby_controller")
    assert manager.states()["standby_controller"] == "unconfigured"
    assert not manager.switch(["standby_controller"], ["damping_controller"]).ok
    assert manager.configure("standby_controller")
    client.reach(ControlMode.STANDBY)
    client.finish_standby()


def test_refusals_that_have_no_place_in_the_answer_are_in_the_log(
    manager: Manager, running: Any
) -> None:
    assert not manager.unload("damping_controller")
    assert manager.states()["damping_controller"] == "inactive"
    assert "the loop falls back to it" in running.text()
    assert not manager.load("ghost")
    assert "The 'type' param was not defined for 'ghost'." in running.text()


def test_an_inactive_broadcaster_publishes_nothing(manager: Manager) -> None:
    client = manager.client
    assert manager.switch([], ["joint_state_broadcaster"]).ok
    client.next_statements()
    heard = len(client.joint_states)
    client.next_statements(10)
    assert len(client.joint_states) == heard
    assert manager.switch(["joint_state_broadcaster"], []).ok
    client.until(lambda: len(client.joint_states) > heard, "joint states again")


def test_activity_is_latched_and_follows(manager: Manager) -> None:
    client = manager.client
    assert manager.switch(["damping_controller"], ["zero_torque_controller"]).ok

    def active() -> set[str]:
        (message,) = client.latched(ControllerManagerActivity, "/controller_manager/activity")
        return {c.name for c in message.controllers if c.state.label == "active"}

    client.until(lambda: active() == {"joint_state_broadcaster", "damping_controller"}, "activity")


def test_without_a_mode_manager_the_loop_alone_decides(
    start_control: Callable[..., Any], client: Any
) -> None:
    running = start_control(enable_mode_manager=False)
    manager = Manager(client)
    assert manager.switch(["standby_controller"], ["zero_torque_controller"]).ok
    assert manager.states()["standby_controller"] == "active"
    assert manager.switch(["damping_controller"], ["standby_controller"]).ok
    running.end()
    assert running.process.returncode == 0


def _install(folder: Path, name: str, source: str, points: str) -> Path:
    """A Python path with a plugin package."""
    plugin = folder / "plugin"
    information = plugin / f"{name}-1.dist-info"
    information.mkdir(parents=True)
    (plugin / f"{name}.py").write_text(source)
    (information / "METADATA").write_text(f"Name: {name}\nVersion: 1\n")
    (information / "entry_points.txt").write_text(points)
    return plugin


def test_broken_plugins_and_bad_names_are_refused_and_the_services_go_on(
    start_control_anew: Callable[..., Any],
    client: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plugin = _install(tmp_path, "broken", BROKEN, BROKEN_POINTS)
    (plugin / "broken_at_import.py").write_text("raise SystemExit(2)\n")
    monkeypatch.setenv("PYTHONPATH", str(plugin), prepend=os.pathsep)
    running = start_control_anew()
    client.connect()
    manager = Manager(client)
    for name in ("arm.left", "../evil"):
        assert not manager.set(f"{name}.type", "broken/Crooked")
    for name, kind, loads in (
        ("crooked", "broken/Crooked", True),
        ("lost", "broken/Lost", True),
        ("mute", "broken/Mute", True),
        ("gone", "broken/Gone", False),
        ("use_sim_time", "broken/Crooked", False),
        ("über", "broken/Mute", True),
        ("x" * 10_000, "broken/Mute", True),
        ("/", "broken/Mute", True),
    ):
        assert manager.set(f"{name}.type", kind)
        assert manager.load(name) is loads
        assert not manager.configure(name)
        assert manager.unload(name) is loads
    assert list(manager.states()) == NAMES
    assert client.now.mode == ControlMode.ZERO_TORQUE
    running.end()
    assert running.process.returncode == 0


def test_a_controller_that_takes_long_to_configure_does_not_hold_the_robot_up(
    start_control_anew: Callable[..., Any],
    client: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    points = "[humanoid_control.controllers]\nslow/Slow = slow:Slow\n"
    plugin = _install(tmp_path, "slow", SLOW, points)
    file = tmp_path / "slow.yaml"
    file.write_text("slow_controller: {ros__parameters: {damping: 6.0}}\n")
    monkeypatch.setenv("PYTHONPATH", str(plugin), prepend=os.pathsep)
    start_control_anew()
    client.connect()
    manager = Manager(client)
    assert manager.set("slow_controller.type", "slow/Slow")
    assert manager.set("slow_controller.params_file", [str(file)])
    manager.enter_standby()
    assert manager.load("slow_controller")
    assert manager.configure("slow_controller")
    assert client.now.mode == ControlMode.STANDBY  # the ROS side was not silent
    assert manager.switch(["slow_controller"], ["standby_controller"]).ok
    client.until(lambda: client.commands[-1].damping[0] == 6.0, "its damping")
    assert client.now.controller_name == "slow_controller"


def _two_arms(folder: Path) -> Path:
    """The example with a controller for each arm; STANDBY is quick."""
    content = yaml.safe_load((ROOT / "docs/examples/two_arms.yaml").read_text())
    for pose in content["standby_controller"]["ros__parameters"]["poses"].values():
        pose["duration"] = 0.3
    path = folder / "two_arms.yaml"
    path.write_text(yaml.safe_dump(content, sort_keys=False))
    return path


@pytest.fixture
def two_arms(start_control: Callable[..., Any], client: Any, tmp_path: Path) -> Manager:
    """REMOTE with a controller for each arm in force; `spare` is inactive, for the right arm."""
    start_control(controllers_file=_two_arms(tmp_path))
    client.connect()
    manager = Manager(client)
    own = yaml.safe_load((tmp_path / "two_arms.yaml").read_text())["right_remote"]
    file = tmp_path / "spare.yaml"
    file.write_text(yaml.safe_dump({"spare": own}))
    fallbacks = ["damping_controller", "zero_torque_controller"]
    assert manager.set("spare.type", "humanoid_control/RemotePolicyController")
    assert manager.set("spare.fallback_controllers", fallbacks)
    assert manager.set("spare.params_file", [str(file)])
    assert manager.load("spare")
    assert manager.configure("spare")
    manager.enter_standby()
    client.finish_standby()
    client.reach(ControlMode.REMOTE)
    assert client.now.controller_name == "left_remote+right_remote"
    return manager


def test_controllers_side_by_side_claim_the_interfaces_of_their_joints(two_arms: Manager) -> None:
    answer = two_arms.call(srv.ListControllers, "list_controllers")
    joints = {
        it.name: {name.partition("/")[0] for name in it.claimed_interfaces}
        for it in answer.controller
    }
    left, right, spare = (joints[it] for it in ("left_remote", "right_remote", "spare"))
    assert [len(it) for it in (left, right, spare)] == [7, 4, 0]
    assert not left & right
    interfaces = two_arms.call(srv.ListHardwareInterfaces, "list_hardware_interfaces")
    claimed = {it.name.partition("/")[0] for it in interfaces.command_interfaces if it.is_claimed}
    assert claimed == left | right


def test_controllers_side_by_side_are_exchanged_one_by_one(two_arms: Manager) -> None:
    client, number = two_arms.client, two_arms.client.now.switch_number
    refused = two_arms.switch(["spare"], [])
    assert not refused.ok
    assert "'spare' since the command interface 'right_shoulder_pitch/position'" in refused.message
    assert refused.message.endswith("is currently claimed by another controller: 'right_remote'.")
    answer = two_arms.switch(["spare"], ["right_remote"])
    assert (answer.ok, answer.message) == (True, "Successfully switched controllers!")
    client.until(lambda: client.now.controller_name == "left_remote+spare", "the spare one")
    assert client.now.switch_number == number
    assert two_arms.switch([], ["spare"]).ok
    states = two_arms.states()
    assert states["left_remote"] == "active"
    assert states["right_remote"] == states["spare"] == "inactive"
    assert "'damping_controller' is in charge now" in two_arms.switch([], ["left_remote"]).message
