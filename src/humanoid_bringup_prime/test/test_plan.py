"""The processes of a bring-up, with their parameters."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import fromstring

import pytest
import yaml
from ament_index_python.packages import get_package_share_directory

from humanoid_bringup.early_processes import early_processes
from humanoid_bringup.options import Backend, Options, Process
from humanoid_bringup.plan import notes, plan
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.rules.modes import Mode
from humanoid_twin.robot.actuators import load_actuators

CONFIG = Path(get_package_share_directory("humanoid_bringup_prime")) / "config"
WITH_FRICTION = Path(__file__).parents[3] / "docs/examples/prime_with_friction.yaml"
PLACEHOLDER = CONFIG / "prime_calibration.yaml"
STATE = "erob_impedance_manager/state"
# The documents' ring, in kinematic order.
RING = {
    "left_shoulder_pitch": 0, "left_shoulder_roll": 1, "left_shoulder_yaw": 2,
    "left_elbow_pitch": 3, "left_wrist_yaw": 4,
    "right_shoulder_pitch": 5, "right_shoulder_roll": 6, "right_shoulder_yaw": 7,
    "right_elbow_pitch": 8, "right_wrist_yaw": 9,
}  # fmt: skip


def real(**options: Any) -> Options:
    return Options(backend=Backend.REAL, backends="ec", **options)


def parameters(process: Process, node: str) -> dict[str, Any]:
    """Return the parameters of `node` in the files of `process`; later files take precedence."""
    found: dict[str, Any] = {}
    for file in process.parameter_files:
        found |= yaml.safe_load(file.read_text()).get(node, {}).get("ros__parameters", {})
    return found


def control_of(options: Options, folder: Path) -> Process:
    return labelled(plan(options, folder), "control")


def labelled(processes: list[Process], label: str) -> Process:
    (found,) = (process for process in processes if process.label == label)
    return found


@pytest.mark.parametrize("backend", [Backend.MUJOCO, Backend.MOCK])
def test_only_real_drives_need_an_impedance_manager(backend: Backend, tmp_path: Path) -> None:
    processes = plan(Options(backend=backend), tmp_path)
    assert [process.label for process in processes] == ["black_box", "control", "viewer"]
    assert parameters(processes[1], "mode_manager") == {}
    rate = {Backend.MUJOCO: 200, Backend.MOCK: 50}[backend]
    assert parameters(processes[1], "controller_manager")["update_rate"] == rate


def test_the_ethercat_side_comes_with_an_impedance_manager_for_the_mode_manager(
    tmp_path: Path,
) -> None:
    processes = plan(real(viewer=False), tmp_path)
    assert [(p.label, p.executable, p.required, p.outlives) for p in processes] == [
        ("black_box", "black_box", False, True),
        ("impedance", "erob_impedance_manager", False, True),
        ("control", "control", True, False),
    ], "the control process needs the manager on its way down, and the box sees how both end"
    control = labelled(processes, "control")
    assert parameters(control, "mode_manager") == {"impedance_manager": STATE}


def test_the_impedance_manager_is_wired_from_the_hardware_file(tmp_path: Path) -> None:
    found = parameters(labelled(plan(real(), tmp_path), "impedance"), "erob_impedance_manager")
    assert dict(zip(found["joint_names"], found["ring_positions"], strict=True)) == RING
    assert found["kt"] == [0.132e-3] * 10
    assert found["gear"] == [50.0] * 10
    assert found["update_rate"] == 50


def test_hardware_file_sets_positions_and_types_for_the_impedance_manager(tmp_path: Path) -> None:
    hardware = yaml.safe_load((CONFIG / "prime_hardware.yaml").read_text())
    joints = hardware["joints"]
    slaves = joints["erob_slaves"]
    slaves["left_elbow_pitch"] = {"position": 0, "model": "eRob80_V5_MC2"}
    slaves["left_shoulder_pitch"]["position"] = 3
    joints["erob_kt"] = {"right_wrist_yaw": 0.2e-3}
    joints["erob_gear"] = {"right_wrist_yaw": 100}
    file = tmp_path / "hardware.yaml"
    file.write_text(yaml.safe_dump(hardware))
    calibration = yaml.safe_load((CONFIG / "prime_calibration.yaml").read_text())
    calibration["left_elbow_pitch"]["id"], calibration["left_shoulder_pitch"]["id"] = 0, 3
    measured = tmp_path / "calibration.yaml"
    measured.write_text(yaml.safe_dump(calibration))
    processes = plan(real(hardware_config=file, calibration_file=measured), tmp_path)
    found = parameters(labelled(processes, "impedance"), "erob_impedance_manager")
    row = {
        name: values
        for name, *values in zip(
            found["joint_names"], found["ring_positions"], found["kt"], found["gear"], strict=True
        )
    }
    assert row["left_elbow_pitch"] == [0, 0.134e-3, 50.0]
    assert row["left_shoulder_pitch"] == [3, 0.132e-3, 50.0]
    assert row["right_wrist_yaw"] == [9, 0.2e-3, 100.0]


def test_hardware_file_may_have_tags_of_xacro(tmp_path: Path) -> None:
    shipped = (CONFIG / "prime_hardware.yaml").read_text()
    file = tmp_path / "hardware.yaml"
    file.write_text(shipped.replace("activation_timeout: 5.0", "activation_timeout: !degrees 360"))
    control = control_of(real(hardware_config=file), tmp_path)
    assert ">6.28" in parameters(control, "controller_manager")["robot_description"]


def test_the_files_of_the_robot_s_package_take_precedence_over_those_of_its_description(
    tmp_path: Path,
) -> None:
    robot = real().robot
    hardware, calibration = tmp_path / "hardware.yaml", tmp_path / "calibration.yaml"
    shipped = robot.drives.hardware.read_text()
    hardware.write_text(shipped.replace("activation_timeout: 5.0", "activation_timeout: 6.5"))
    calibration.write_text(robot.drives.calibration.read_text())
    files = replace(robot.drives, hardware=hardware, calibration=calibration)
    other = replace(robot, drive_files=files)
    control = control_of(replace(real(), robot=other), tmp_path)
    description = parameters(control, "controller_manager")["robot_description"]
    assert ">6.5</param>" in description
    assert f">{calibration}</param>" in description


def test_every_mode_has_the_gains_of_the_documents_on_both_families(tmp_path: Path) -> None:
    """The gains of eRobs are in the manager's table, all others in the controllers' parameters."""
    processes = plan(real(), tmp_path)
    table = parameters(labelled(processes, "impedance"), "erob_impedance_manager")
    pairs = dict(zip(Mode, zip(table["mode_kp"], table["mode_kd"], strict=True), strict=True))
    assert pairs == {
        Mode.ZERO_TORQUE: (0.0, 0.0),
        Mode.DAMPING: (0.0, 6.0),
        Mode.STANDBY: (20.0, 2.0),
        Mode.LOCOMOTION: (20.0, 2.0),
        Mode.REMOTE: (20.0, 2.0),
    }
    assert (table["torque_efficiency"], table["parallel_sdo"]) == (1.0, True)
    assert table["follow_requests"] is False  # a refused request must not change gains
    control = labelled(processes, "control")
    assert parameters(control, "damping_controller")["damping"] == 6.0
    for name in ("standby_controller", "remote_policy_controller", "joint_stream_controller"):
        found = parameters(control, name)
        assert (found["stiffness"], found["damping"]) == (20.0, 2.0)


def test_with_ethercat_alone_the_wrists_are_mocked_with_a_note(
    tmp_path: Path,
) -> None:
    urdf = parameters(control_of(real(), tmp_path), "controller_manager")["robot_description"]
    assert "PrimeEtherCATSide" in urdf
    assert "PrimeCANMock" in urdf
    assert "PrimeSitoCAN" not in urdf
    assert notes(real())[0] == (
        "backends:=ec: four wrists on the CAN bus are mocked, "
        "only the ten eRobs on EtherCAT are real"
    )
    assert notes(Options(backend=Backend.MUJOCO)) == []


@pytest.mark.parametrize("given", [{"heartbeats": {"desk": 0.5}}, {"enable_gamepad": True}])
def test_heartbeats_and_gamepad_are_refused_without_the_mode_manager(given: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="mode manager, which is switched off"):
        Options(backend=Backend.MOCK, enable_mode_manager=False, **given)


def test_without_the_ring_there_is_no_impedance_to_manage(tmp_path: Path) -> None:
    options = Options(backend=Backend.REAL, backends="can", viewer=False)
    processes = plan(options, tmp_path)
    assert [process.label for process in processes] == ["black_box", "control"]
    assert "impedance_manager" not in parameters(processes[0], "mode_manager")


def test_a_gamepad_has_a_driver_and_the_mode_manager_subscribes_to_it(tmp_path: Path) -> None:
    processes = plan(real(viewer=False, enable_gamepad=True), tmp_path)
    driver = labelled(processes, "gamepad")
    assert (driver.package, driver.executable, driver.required) == ("joy", "joy_node", False)
    assert parameters(labelled(processes, "control"), "mode_manager")["gamepad"] is True


def blocks(process: Process) -> dict[str, dict[str, str]]:
    """Return the hardware of each block in the description."""
    urdf = fromstring(parameters(process, "controller_manager")["robot_description"])
    return {
        str(block.get("name")): {
            str(p.get("name")): str(p.text) for p in block.findall("hardware/param")
        }
        | {"plugin": str(block.findtext("hardware/plugin"))}
        for block in urdf.findall("ros2_control")
    }


def test_the_virtual_robot_is_met_by_the_real_bring_up_with_other_bus_names(tmp_path: Path) -> None:
    """The lists, plug-ins and parameters are equal; only the names of the buses differ."""
    real_folder, twin_folder = tmp_path / "real", tmp_path / "twin"
    real_folder.mkdir()
    twin_folder.mkdir()
    expected = plan(Options(backend=Backend.REAL), real_folder)
    *processes, truth = plan(Options(backend=Backend.TWIN), twin_folder)
    virtual = labelled(processes, "robot")
    processes.remove(virtual)
    assert (virtual.package, virtual.executable, virtual.required) == (
        "humanoid_twin",
        "robot",
        True,
    )
    assert (truth.executable, truth.required) == ("truth", False)
    assert [(p.label, p.package, p.executable, p.required) for p in processes] == [
        (p.label, p.package, p.executable, p.required) for p in expected
    ]
    names = {"interface", "channel"}
    control, original = labelled(processes, "control"), labelled(expected, "control")
    for mine, its in zip(blocks(control).items(), blocks(original).items(), strict=True):
        assert mine[0] == its[0]
        assert {k: v for k, v in mine[1].items() if k not in names} == {
            k: v for k, v in its[1].items() if k not in names
        }
    found = blocks(control)
    words = virtual.arguments
    arguments = dict(zip(words[:-2:2], words[1:-2:2], strict=True))
    assert words[-2:] == ("--realtime", "--ignore-interrupt")
    assert found["PrimeEtherCATSide"]["interface"] == arguments["--cable"]
    assert found["PrimeSitoCAN"]["interface"] == "slcan"
    assert found["PrimeSitoCAN"]["channel"] == arguments["--can"].removeprefix("can=")
    assert parameters(truth, "truth")["control"] == arguments["--control"]
    for node in ("mode_manager", "standby_controller", "damping_controller"):
        assert parameters(control, node) == parameters(original, node)


def test_the_virtual_robot_takes_other_actuators(tmp_path: Path) -> None:
    """Those of the example differ by their friction alone, which every joint has."""
    processes = plan(Options(backend=Backend.TWIN, actuators=WITH_FRICTION), tmp_path)
    words = labelled(processes, "robot").arguments
    assert words[words.index("--actuators") + 1] == str(WITH_FRICTION)
    own, given = map(load_actuators, (CONFIG / "prime_virtual_robot.yaml", WITH_FRICTION))
    assert (given.ring, given.can) == (own.ring, own.can)
    assert set(given.frictions) == set(given.joints)


def test_control_process_starts_after_the_virtual_robot_is_ready(tmp_path: Path) -> None:
    processes = plan(Options(backend=Backend.TWIN), tmp_path)
    labels = [process.label for process in processes]
    assert labels == ["black_box", "impedance", "robot", "control", "viewer", "truth"]
    assert [process.label for process in processes if process.ready] == ["robot"]


@pytest.mark.parametrize(
    "chosen",
    [
        {"backend": Backend.TWIN},
        {"backend": Backend.TWIN, "backends": "can", "calibrate": True, "namespace": "/left"},
        {"backend": Backend.REAL, "heartbeats": {"desk": 0.5}},
        {"backend": Backend.MOCK, "enable_mode_manager": False},
        {"backend": Backend.MUJOCO, "enable_gamepad": True},
    ],
    ids=lambda chosen: "-".join([chosen["backend"].value, *list(chosen)[1:]]),
)
def test_processes_that_load_early_are_those_of_the_plan(
    chosen: dict[str, Any], tmp_path: Path
) -> None:
    options = Options(**chosen)
    early = early_processes(options, tmp_path)
    assert not list(tmp_path.iterdir()), "nothing is written before the configuration is checked"
    planned = plan(options, tmp_path)
    assert [process.label for process in early] == ["control"]
    assert [process for process in early if process not in planned] == []


def test_the_interface_of_the_ring_can_be_chosen(tmp_path: Path) -> None:
    plain = parameters(control_of(real(), tmp_path), "controller_manager")
    assert '<param name="interface">eth0</param>' in plain["robot_description"]
    chosen = control_of(real(ethercat_interface="enp7s0"), tmp_path)
    urdf = parameters(chosen, "controller_manager")["robot_description"]
    assert '<param name="interface">enp7s0</param>' in urdf


def test_start_without_mode_manager_and_in_damping(tmp_path: Path) -> None:
    options = real(enable_mode_manager=False, initial_mode=Mode.DAMPING)
    control = control_of(options, tmp_path)
    assert control.executable == "control_without_mode_manager"
    found = parameters(control, "controller_manager")
    assert found["initial_controller"] == "damping_controller"


def test_the_controllers_file_chooses_the_initial_controller_unless_an_option_does(
    tmp_path: Path,
) -> None:
    line = "initial_controller: zero_torque_controller"

    def chosen(**options: Any) -> Any:
        control = control_of(real(controllers_file=file, **options), tmp_path)
        return parameters(control, "controller_manager")["initial_controller"]

    file = _with(tmp_path, line, "initial_controller: my_damping")
    assert chosen() == "my_damping"
    assert chosen(initial_mode=Mode.DAMPING) == "damping_controller"
    assert chosen(initial_mode=Mode.ZERO_TORQUE) == "zero_torque_controller"
    assert chosen(calibrate=True) == "zero_torque_controller"
    file = _with(tmp_path, line, "")
    assert chosen() == "zero_torque_controller"


@pytest.mark.parametrize("key", ["robot_description", "robot_description_semantic", "backend"])
def test_a_parameter_that_the_bring_up_gives_is_refused_in_the_controllers_file(
    tmp_path: Path, key: str
) -> None:
    file = _with(tmp_path, "update_rate: 50", f"update_rate: 50\n    {key}: text")
    with pytest.raises(ConfigError, match=f":6: '{key}' is given by the bring-up"):
        plan(real(controllers_file=file), tmp_path)


@pytest.mark.parametrize(
    ("values", "message"), [("[0.5, 1]", "has whole numbers and"), ("[]", "is empty, which")]
)
def test_a_list_that_no_node_could_take_is_refused_before_anything_is_started(
    tmp_path: Path, values: str, message: str
) -> None:
    file = _with(tmp_path, "update_rate: 50", f"update_rate: 50\n    speeds: {values}")
    with pytest.raises(ConfigError, match=f":6: 'speeds' of controller_manager {message}"):
        plan(real(controllers_file=file), tmp_path)


def test_a_bring_up_for_calibration_is_without_stiff_modes(tmp_path: Path) -> None:
    for calibrate in (False, True):
        control = control_of(real(calibrate=calibrate), tmp_path)
        assert parameters(control, "controller_manager")["calibration"] is calibrate


def _with(tmp_path: Path, old: str, new: str) -> Path:
    text = (CONFIG / "prime_controllers.yaml").read_text()
    assert old in text
    path = tmp_path / "controllers.yaml"
    path.write_text(text.replace(old, new, 1))
    return path


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("torque_efficiency: 1.0", "torque_efficiency: 7", r"yaml:\d+: 'torque_efficiency'"),
        ("parallel_sdo: true", "paralel_sdo: true", r"yaml:\d+: unknown key 'paralel_sdo'"),
        ("mode_kd: [0.0, 6.0,  2.0", "mode_kd: [0.0, 6.0,  0.0", "STANDBY has stiffness 20 with"),
        ("mode_kd: [0.0, 6.0", "mode_kd: [0.0, 0.01", r"yaml:\d+: gains of DAMPING: damping 0.01"),
        ("mode_kp: [0.0, 0.0", "mode_kp: [0.0, 20.0", "mode_kp and mode_kd of DAMPING"),
        ("erob_impedance_manager:", "erob_impedance:", "no erob_impedance_manager.ros__param"),
    ],
)
def test_wrong_parameters_of_the_manager_are_reported_before_anything_is_started(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    path = _with(tmp_path, old, new)
    with pytest.raises(ConfigError, match=message):
        plan(real(controllers_file=path), tmp_path)
    with pytest.raises(ConfigError, match=message):  # the mock would also not act like the robot
        plan(Options(backend=Backend.MOCK, controllers_file=path), tmp_path)
    plan(Options(backend=Backend.MOCK, full_mit=True, controllers_file=path), tmp_path)


@pytest.mark.parametrize(
    "section",
    [
        "{use_sim_time: true, start_type_description_service: false}",
        "{qos_overrides: {/parameter_events: {publisher: {depth: 10}}}}",
        "{qos_overrides./parameter_events.publisher.depth: 10}",
    ],
)
def test_parameters_that_ros_gives_every_node_are_accepted(tmp_path: Path, section: str) -> None:
    text = (CONFIG / "prime_controllers.yaml").read_text()
    path = tmp_path / "controllers.yaml"
    path.write_text(f"/**:\n  ros__parameters: {section}\n{text}")
    options = real(controllers_file=path)
    shipped, given = plan(real(), tmp_path), plan(options, tmp_path)
    assert [process.label for process in given] == [process.label for process in shipped]
    assert notes(options) == notes(real())


def test_the_black_box_may_be_left_out(tmp_path: Path) -> None:
    processes = plan(Options(backend=Backend.MOCK, black_box=False, viewer=False), tmp_path)
    assert [process.label for process in processes] == ["control"]


@pytest.mark.parametrize("backend", Backend)
def test_the_black_box_gets_the_backend(backend: Backend, tmp_path: Path) -> None:
    control = control_of(Options(backend=backend, viewer=False), tmp_path)
    assert parameters(control, "controller_manager")["backend"] == backend.value


def test_the_virtual_robot_is_found_by_its_domain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROS_DOMAIN_ID", "77")
    robot = labelled(plan(Options(backend=Backend.TWIN, viewer=False), tmp_path), "robot")
    socket = robot.arguments[robot.arguments.index("--control") + 1]
    assert socket == f"/tmp/humanoid_control_{os.getuid()}_domain_77_twin"


def test_the_server_of_the_joint_stream_has_the_robots_controller_loaded(tmp_path: Path) -> None:
    options = Options(backend=Backend.MOCK, joint_stream=True, viewer=False)
    server = labelled(plan(options, tmp_path), "joint_stream")
    assert not server.required
    own = parameters(server, "joint_stream")
    (name, section) = next(iter(yaml.safe_load(Path(own["controller_file"]).read_text()).items()))
    assert name == "joint_stream_controller"
    assert section["ros__parameters"]["type"] == "humanoid_control/JointStreamController"
    assert section["ros__parameters"]["fallback_controllers"]
    assert notes(options) == notes(Options(backend=Backend.MOCK, viewer=False))


def test_a_joint_stream_without_parameters_is_refused(tmp_path: Path) -> None:
    path = _with(tmp_path, "joint_stream_controller:", "another_controller:")
    options = Options(backend=Backend.MOCK, joint_stream=True, controllers_file=path)
    with pytest.raises(ConfigError, match=r"no joint_stream_controller\.ros__parameters"):
        plan(options, tmp_path)


def test_the_joint_stream_needs_the_mode_manager() -> None:
    with pytest.raises(ConfigError, match="joint stream needs the mode manager"):
        Options(backend=Backend.MOCK, joint_stream=True, enable_mode_manager=False)
