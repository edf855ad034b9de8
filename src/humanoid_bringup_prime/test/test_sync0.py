"""The EtherCAT ring's SYNC0 and the control loop have one rate in every configuration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from ament_index_python.packages import get_package_share_directory

from humanoid_bringup.options import Backend, Options, Process
from humanoid_bringup.plan import plan
from humanoid_control_common.errors import ConfigError
from humanoid_controller_manager.hardware.urdf import parse_robot_description
from humanoid_devices_erob.settings import parse_settings

CONFIG = Path(get_package_share_directory("humanoid_bringup_prime")) / "config"


def edited(file: str, edit: dict[str, Any], folder: Path) -> Path:
    """Return a copy of an installed file with a mapping merged into its top level."""
    content = yaml.safe_load((CONFIG / file).read_text())
    for key, value in edit.items():
        content[key] = {**content.get(key, {}), **value}
    path = folder / file
    path.write_text(yaml.safe_dump(content, sort_keys=False))
    return path


def ring_of(folder: Path, **options: Any) -> list[Process]:
    chosen = {"backend": Backend.REAL, "backends": "ec", "viewer": False, "black_box": False}
    return plan(Options(**chosen, **options), folder)


def given_to(process: Process, node: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for file in process.parameter_files:
        found |= yaml.safe_load(file.read_text()).get(node, {}).get("ros__parameters", {})
    return found


def sync0_of(urdf: str, loop_rate: float) -> float:
    """Return the frequency of SYNC0 [Hz] of the ring's component in a loop of that rate [Hz]."""
    (block,) = (b for b in parse_robot_description(urdf, loop_rate).blocks if "EtherCAT" in b.name)
    return float(parse_settings(block).control_frequency)


@pytest.mark.parametrize("rate", [20, 125, 1000])
def test_the_controllers_file_sets_the_rate_of_loop_ring_and_impedance_manager(
    rate: int, tmp_path: Path
) -> None:
    text = (CONFIG / "prime_controllers.yaml").read_text()
    file = tmp_path / "prime_controllers.yaml"
    file.write_text(text.replace("update_rate: 50", f"update_rate: {rate}"))
    manager, control = ring_of(tmp_path, controllers_file=file)
    own = given_to(control, "controller_manager")
    assert own["update_rate"] == rate
    assert sync0_of(own["robot_description"], rate) == rate
    assert given_to(manager, "erob_impedance_manager")["update_rate"] == rate


@pytest.fixture(scope="module")
def urdf(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The description of a bring-up at 50 Hz."""
    control = ring_of(tmp_path_factory.mktemp("plan"))[1]
    return str(given_to(control, "controller_manager")["robot_description"])


@pytest.mark.parametrize("rate", [25.0, 100.0, 200.0, 1000.0])
def test_a_loop_of_any_other_rate_is_refused_by_the_ring(urdf: str, rate: float) -> None:
    with pytest.raises(ConfigError, match="control_frequency"):
        sync0_of(urdf, rate)


@pytest.mark.parametrize("rate", [49.9, 50.1])
def test_a_rate_whose_sync0_no_erob_takes_is_refused_by_the_ring(urdf: str, rate: float) -> None:
    with pytest.raises(ConfigError, match=r"multiples of 0\.5 ms"):
        sync0_of(urdf, rate)


@pytest.mark.parametrize("where", ["buses", "joints"])
def test_the_hardware_file_has_no_rate_to_set(where: str, tmp_path: Path) -> None:
    file = edited("prime_hardware.yaml", {where: {"control_frequency": 100}}, tmp_path)
    try:
        control = ring_of(tmp_path, hardware_config=file)[1]
    except ConfigError:
        return  # an unknown key
    assert sync0_of(given_to(control, "controller_manager")["robot_description"], 50.0) == 50.0


@pytest.mark.parametrize("node", ["/**", "/controller_manager"])
@pytest.mark.usefixtures("domain")
def test_a_file_that_names_the_manager_twice_does_not_part_loop_and_ring(
    node: str, running_type: Any, command_line: Any, tmp_path: Path
) -> None:
    """The component has priority. `/**` also matches controllers, which have no such key."""
    other = {node: {"ros__parameters": {"update_rate": 100}}}
    file = edited("prime_controllers.yaml", other, tmp_path)
    control = ring_of(tmp_path, controllers_file=file, ethercat_interface="no_such_if")[1]
    running = running_type(command_line(control), tmp_path / "output.txt")
    assert running.wait() == 1  # there is no ring
    ended = ("control_frequency is 50 Hz", "no_such_if", "unknown key 'update_rate'")
    assert any(text in running.text() for text in ended), running.text()
