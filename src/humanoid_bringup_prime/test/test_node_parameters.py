"""Every parameter of every node is described; setting it is refused with a remedy, or applied."""

import json
import subprocess
import sys
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import pytest
import yaml

from humanoid_bringup.options import Backend, Options
from humanoid_bringup.plan import plan

# All nodes in one process: it prints the answers to `ros2 param describe` and `set`.
NODES = """
import json, sys
from humanoid_bringup_prime.impedance.node import ImpedanceNode
from humanoid_control_common.configuration.parameter_files import parameter_files
from humanoid_controller_manager.ros.node import ControllerManagerNode
from humanoid_controller_manager.ros.process.ros_session import ros_session
from humanoid_controllers.mode_manager.mode_manager_node import ModeManagerNode
from humanoid_recording.black_box.node import BlackBoxNode
from humanoid_twin.truth_node import TruthNode
from humanoid_viz.nodes.status_marker import StatusMarkerNode
from humanoid_viz.nodes.still_model import StillModelNode
from humanoid_viz.nodes.viewer_node import ViewerNode
from humanoid_viz.state.latest_messages import LatestMessages
from rclpy.parameter import Parameter

def looked_at(node, name):
    descriptor, parameter = node.describe_parameter(name), node.get_parameter(name)
    result = node.set_parameters_atomically([parameter])
    ranges = [*descriptor.floating_point_range, *descriptor.integer_range]
    return {
        "node": node.get_fully_qualified_name(), "name": name,
        "description": descriptor.description,
        "type": descriptor.type == parameter.type_.value, "read_only": descriptor.read_only,
        "constraints": descriptor.additional_constraints,
        "range": [ranges[0].from_value, ranges[0].to_value] if ranges else [],
        "successful": result.successful, "reason": result.reason,
    }

with ros_session(sys.argv) as ros:
    files = parameter_files(sys.argv)
    manager = ControllerManagerNode(files, ros)
    viewer = ViewerNode(LatestMessages())
    viewer.address(), viewer.token_file()
    own = [viewer, StatusMarkerNode(), StillModelNode(), TruthNode()]
    nodes = [manager.node, *own]
    nodes.append(ModeManagerNode(manager, ros, lambda: None).node)
    companions = [ImpedanceNode(files, ros).node, BlackBoxNode(files, ros).node]
    nodes += companions
    nodes += [record.configured.side.context.node for record in manager.registry.records.values()]
    found = [looked_at(n, name) for n in nodes for name in n.get_parameters_by_prefix("")]
    for name in ("nonsense", "new_controller.type", "new_controller.speed"):
        result = manager.node.set_parameters_atomically([Parameter(name, value="x/Y")])
        found.append({"tried": name, "successful": result.successful, "reason": result.reason})
    result = viewer.set_parameters_atomically([Parameter("use_sim_time", value=True)])
    found.append({"tried": "use_sim_time", "successful": result.successful, "reason": ""})
    for node in companions:
        names = node.get_name(), node.get_namespace()
        kinds = node.get_service_names_and_types_by_node, node.get_publisher_names_and_types_by_node
        found.append({"has": [name for kind in kinds for name, _ in kind(*names)]})
    for node in own:
        node.destroy_node()
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    folder = tmp_path_factory.mktemp("parameters")
    mock = plan(Options(backend=Backend.MOCK, namespace="/left", heartbeats={"me": 1.0}), folder)
    (files,) = (process.parameter_files for process in mock if process.label == "control")
    (real := folder / "real").mkdir()
    ring = plan(Options(backend=Backend.REAL, namespace="/left", viewer=False), real)
    (others,) = (process.parameter_files for process in ring if process.label == "impedance")
    own = {
        "still_model": {"robot_description": "<robot name='x'><link name='world'/></robot>"},
        "black_box": {"folder": str(folder), "most_files": 3, "most_megabytes": 1.0},
        "mode_manager": {"default_safety_deadline": 3.0},
    }
    extra = folder / "extra.yaml"
    extra.write_text(yaml.safe_dump({n: {"ros__parameters": p} for n, p in own.items()}))
    words = [word for file in (*files, others[-1], extra) for word in ("--params-file", str(file))]
    command = [sys.executable, "-c", NODES, "--ros-args", "-r", "__ns:=/left", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=200)
    assert done.returncode == 0, done.stderr
    return list(json.loads(done.stdout.splitlines()[-1]))


def of(found: list[dict[str, Any]], node: str, name: str) -> dict[str, Any]:
    (one,) = (it for it in found if (it.get("node"), it.get("name")) == (f"/left/{node}", name))
    return one


OF_ROS = {"use_sim_time"}
CONTROLLERS = entry_points(group="humanoid_control.controllers")


def test_every_parameter_of_every_node_is_described(found: list[dict[str, Any]]) -> None:
    ours = [it for it in found if "node" in it]
    assert len({it["node"] for it in ours}) == 15
    for it in ours:
        assert len(it["description"]) > 5 and it["type"], it
        assert "' of " not in it["description"], f"no description in the model: {it}"


@pytest.mark.parametrize("controller", CONTROLLERS, ids=lambda found: found.name)
def test_every_parameter_of_every_controller_is_described(controller: EntryPoint) -> None:
    schema = controller.load().Parameters.model_json_schema()
    for model in (schema, *schema.get("$defs", {}).values()):
        for name, parameter in model.get("properties", {}).items():
            assert len(parameter.get("description", "")) > 4, f"{model['title']}: {name}"


def test_setting_a_parameter_is_refused_with_a_remedy(found: list[dict[str, Any]]) -> None:
    for it in found:
        if "node" in it and it["name"] not in OF_ROS:
            applied = it["successful"] and "is loaded next" in it["reason"]
            refused = it["read_only"] and not it["successful"] and "change it in" in it["reason"]
            assert applied or refused, it


def test_a_refusal_names_the_place_of_the_value(found: list[dict[str, Any]]) -> None:
    damping = of(found, "damping_controller", "damping")
    assert "prime_controllers.yaml:" in damping["reason"]
    assert "when the controller is configured" in damping["reason"]
    rate = of(found, "controller_manager", "update_rate")
    assert "change it in the options or files of the bring-up" in rate["reason"]
    assert "then start the program again" in rate["reason"]
    assert "the parameter file or the command line" in of(found, "viewer", "port")["reason"]


def test_units_ranges_and_choices_are_described(found: list[dict[str, Any]]) -> None:
    assert "[Nm/rad]" in of(found, "standby_controller", "stiffness")["description"]
    assert of(found, "standby_controller", "stiffness")["range"][0] == 0.0
    assert of(found, "standby_controller", "stiffness")["constraints"] == "greater than 0"
    assert "[s]" in of(found, "standby_controller", "poses.ready.duration")["description"]
    assert of(found, "viewer", "port")["range"] == [0, 65535]
    assert of(found, "black_box", "most_files")["range"][0] == 1
    choices = of(found, "remote_policy_controller", "on_stale")["constraints"]
    assert choices == "one of damp, passive, hold"
    assert "[s]" in of(found, "mode_manager", "heartbeats.me")["description"]


def test_unknown_parameter_is_refused_and_parameters_of_a_spawner_are_accepted(
    found: list[dict[str, Any]],
) -> None:
    tried = {it["tried"]: it for it in found if "tried" in it}
    assert not tried["nonsense"]["successful"]
    assert "has no parameter 'nonsense'; it has" in tried["nonsense"]["reason"]
    assert not tried["new_controller.speed"]["successful"]
    assert tried["new_controller.type"]["successful"]
    assert "when 'new_controller' is loaded next" in tried["new_controller.type"]["reason"]
    assert tried["use_sim_time"]["successful"], "rclpy applies it"


def test_nodes_of_other_processes_have_parameter_services_and_a_log(
    found: list[dict[str, Any]],
) -> None:
    listed = [set(it["has"]) for it in found if "has" in it]
    assert len(listed) == 2
    for name, has in zip(("erob_impedance_manager", "black_box"), listed, strict=True):
        assert {"/rosout", f"/left/{name}/list_parameters"} <= has
