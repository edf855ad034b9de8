"""`hc load` and `hc unload` add a controller to a running robot and remove it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from humanoid_control_msgs.msg import ControlMode
from humanoid_control_msgs.srv import MoveJoints
from rcl_interfaces.msg import Log
from rcl_interfaces.srv import GetParameters
from test_support.programs.prepared_programs import PreparedPrograms
from test_support.programs.started_process import StartedProcess


class Robot:
    """A control process whose controllers `hc` changes."""

    def __init__(self, client: Any, folder: Path, prepared: PreparedPrograms) -> None:
        self.client = client
        self.folder = folder
        self._prepared = prepared

    def write(self, name: str, **changes: Any) -> Path:
        """Write the file of a STANDBY close to the present pose, in the spawner's form."""
        pose = {"duration": 0.2, "positions": [0.0] * 14}
        parameters = {
            "type": "humanoid_control/StandbyController",
            "fallback_controllers": ["damping_controller", "zero_torque_controller"],
            "stiffness": 20.0,
            "damping": 2.0,
            "sequence": ["here"],
            "poses": {"here": pose},
            **changes,
        }
        file = self.folder / f"{name}.yaml"
        file.write_text(yaml.safe_dump({name: {"ros__parameters": parameters}}))
        return file

    def hc(self, *words: object) -> tuple[int, str]:
        command = ["hc", *map(str, words), "--timeout", "30"]
        running = StartedProcess(command, self.folder / "output.txt", self._prepared)
        return running.wait(), running.text()

    def call(self, kind: Any, name: str, **fields: Any) -> Any:
        """Call a service; return the answer."""
        proxy = self.client.node.create_client(kind, name)
        self.client.until(proxy.service_is_ready, name)
        answer = proxy.call_async(kind.Request(**fields))
        self.client.until(answer.done, f"an answer of {name}")
        self.client.node.destroy_client(proxy)
        return answer.result()

    def nodes(self) -> list[str]:
        """The absolute names of the nodes in the graph; of the hidden ones none."""
        found = self.client.node.get_node_names_and_namespaces()
        return [f"{space.rstrip('/')}/{name}" for name, space in found if name[0] != "_"]

    def names(self) -> set[str]:
        """The names of nodes, topics and services in the graph, those of actions too."""
        node = self.client.node
        topics = [name for name, _ in node.get_topic_names_and_types()]
        services = [name for name, _ in node.get_service_names_and_types()]
        return {*self.nodes(), *topics, *services}


@pytest.fixture
def robot(
    start_control: Callable[..., Any], client: Any, tmp_path: Path, prepared: PreparedPrograms
) -> Robot:
    start_control()
    client.connect()
    return Robot(client, tmp_path, prepared)


def test_loaded_controller_replaces_that_of_the_robot_until_it_is_unloaded(robot: Robot) -> None:
    client = robot.client
    answer = robot.hc("load", robot.write("own_standby"))
    assert answer == (
        0,
        "'own_standby' is loaded: STANDBY is own_standby, in place of standby_controller\n"
        "next: in DAMPING: hc mode load\n",
    )
    client.reach(ControlMode.DAMPING)
    client.reach(ControlMode.STANDBY)
    assert client.now.controller_name == "own_standby"
    code, text = robot.hc("unload", "own_standby")
    assert code == 1
    assert "STANDBY is in force, or about to be: leave it before its controllers change" in text
    code, text = robot.hc("load", robot.write("another_standby"))
    assert (code, "STANDBY is in force" in text) == (1, True)
    client.reach(ControlMode.DAMPING)
    assert robot.hc("unload", "own_standby") == (
        0,
        "'own_standby' is unloaded: STANDBY is standby_controller, in place of own_standby\n",
    )
    client.reach(ControlMode.STANDBY)
    assert client.now.controller_name == "standby_controller"


def test_refused_load_or_unload_names_the_error_and_changes_nothing(robot: Robot) -> None:
    for changes, message in (
        ({"type": "own/Standby"}, "unknown plugin 'own/Standby'; known: "),
        ({"type": "own/Standby"}, "source that workspace in the shell that starts the robot"),
        ({"stiffness": 15.0}, "own_standby: stiffness 15, damping 2, but in STANDBY the impedance"),
        ({"joints": ["left_ellbow"]}, "own.yaml:7: 'joints' of own: unknown joint left_ellbow"),
        ({"damping": "much"}, "'damping': Input should be a valid number"),
    ):
        name = "own" if "joints" in changes else "own_standby"
        code, text = robot.hc("load", robot.write(name, **changes))
        assert code == 1
        assert message in text
        assert f"{name}.yaml" in text or "plugin" in text
    robot.client.reach(ControlMode.DAMPING)
    robot.client.reach(ControlMode.STANDBY)
    assert robot.client.now.controller_name == "standby_controller"
    code, text = robot.hc("unload", "damping_controller")
    assert code == 1
    assert "the loop falls back to it (safe_controllers)" in text


TRAJECTORY = Path(__file__).resolve().parents[3] / "docs/examples/trajectory.yaml"


def test_no_name_of_an_unloaded_or_replaced_controller_is_left_in_the_graph(robot: Robot) -> None:
    def own() -> set[str]:
        return {name for name in robot.names() if "trajectory_controller" in name}

    for _ in range(2):  # the second instance replaces the first
        assert robot.hc("load", TRAJECTORY)[0] == 0
        robot.client.until(lambda: "/trajectory_controller/state" in own(), "its topic")
    assert robot.hc("unload", "trajectory_controller")[0] == 0
    robot.client.until(lambda: not own(), "the end of all its names")


def test_controllers_have_parameters_and_a_log_for_the_tools_of_ros(robot: Robot) -> None:
    logged: list[Log] = []
    node = robot.client.node
    node.create_subscription(Log, "/rosout", logged.append, 1000)

    def stiffness(name: str) -> float:
        answer = robot.call(GetParameters, f"/{name}/get_parameters", names=["stiffness"])
        return float(answer.values[0].double_value)

    assert stiffness("standby_controller") == 20.0
    for _ in range(2):
        assert robot.hc("load", TRAJECTORY)[0] == 0
    assert stiffness("trajectory_controller") == 20.0
    # `ros2 param list` waits for each node that has none.
    lists = {f"{name}/list_parameters" for name in robot.nodes() if "operator" not in name}
    robot.client.until(lambda: lists <= robot.names(), "parameters of every node")
    assert not robot.call(MoveJoints, "/trajectory_controller/move").success
    robot.client.until(
        lambda: any("trajectory_controller" in it.name and it.level == 30 for it in logged),
        "the refusal in the log",
    )


def test_a_controller_by_its_upstream_name_takes_upstreams_parameters(
    robot: Robot, tmp_path: Path
) -> None:
    parameters = {
        "type": "joint_trajectory_controller/JointTrajectoryController",
        "fallback_controllers": ["damping_controller"],
        "joints": ["left_shoulder_pitch", "left_elbow_pitch"],
        "command_interfaces": ["position"],
        "state_interfaces": ["position", "velocity"],
        "state_publish_rate": 100.0,
        "action_monitor_rate": 20.0,
        "interpolate_from_desired_state": True,
        "allow_integration_in_goal_trajectories": True,
        "constraints": {"goal_time": 0.0, "left_elbow_pitch": {"trajectory": 0.2, "goal": 0.1}},
    }
    file = tmp_path / "arm.yaml"
    file.write_text(yaml.safe_dump({"arm": {"ros__parameters": parameters}}))
    code, text = robot.hc("load", file)
    assert (code, "REMOTE is arm" in text) == (0, True)
    file.write_text(yaml.safe_dump({"arm": {"ros__parameters": {**parameters, "gains.p": 1.0}}}))
    code, text = robot.hc("load", file)
    assert (code, "gains" in text) == (1, True)
