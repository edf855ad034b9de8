"""Wrong arguments and hardware files are refused by a message with place and error."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import xacro
import yaml

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.robot_description import share_folder
from prime_description import expand

Expand = Callable[..., str]


def test_description_is_what_xacro_makes_by_itself() -> None:
    file = share_folder("prime_description") / "robots/prime_dummy/xacro/prime_dummy.urdf.xacro"
    arguments = {"ethercat_interface": "ecm0", "control_frequency": "50"}
    document = xacro.process_file(str(file), mappings=arguments)
    assert expand(arguments) == document.toprettyxml(indent="  ")


@pytest.mark.parametrize("name", ["use_sim", "use_fake_hardware"])
@pytest.mark.parametrize("value", ["True", "1", "yes", "", "it's"])
def test_boolean_that_is_not_true_or_false_is_refused(
    expand_with: Expand, name: str, value: str
) -> None:
    with pytest.raises(ConfigError, match=f"{name} is '{value}', expected 'true' or 'false'"):
        expand_with(**{name: value})


@pytest.mark.parametrize("value", ["", "EC", "ethercat", "none"])
def test_backends_that_do_not_exist_are_refused(expand_with: Expand, value: str) -> None:
    with pytest.raises(ConfigError, match=f"backends is '{value}', expected 'all', 'ec' or 'can'"):
        expand_with(backends=value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("real_time_factor", "-1"),
        ("real_time_factor", "nan"),
        ("real_time_factor", "inf"),
        ("real_time_factor", "fast"),
        ("control_frequency", "0"),
        ("control_frequency", "often"),
    ],
)
def test_number_that_makes_no_sense_is_refused(expand_with: Expand, name: str, value: str) -> None:
    with pytest.raises(ConfigError, match=value):
        expand_with(**{name: value})


def test_misspelt_argument_is_refused_and_the_known_ones_are_named(expand_with: Expand) -> None:
    with pytest.raises(ConfigError, match=r"unknown arguments \['use_simulation'\].*'use_sim'"):
        expand_with(use_simulation="true")


def test_missing_hardware_file_is_named(expand_with: Expand, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nowhere\.yaml"):
        expand_with(hardware_config=str(tmp_path / "nowhere.yaml"))


def test_missing_xacro_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nowhere\.xacro"):
        expand({}, tmp_path / "nowhere.xacro")


def test_malformed_hardware_file_is_named_with_its_line(
    expand_with: Expand, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.yaml"
    broken.write_text("buses:\n  can: {interface: can2\njoints: 3\n")
    with pytest.raises(ConfigError, match=r"broken.yaml.*line 3"):
        expand_with(hardware_config=str(broken))


def rename(rows: dict[str, Any], old: str, new: str) -> None:
    rows[new] = rows.pop(old)


Edit = Callable[[dict[str, Any]], object]
EDITS: dict[str, tuple[Edit, str]] = {
    "unknown joint": (
        lambda h: h["joints"]["all_joints"].append("left_thumb"),
        r"joints.all_joints: unknown \['left_thumb'\]; known are .*left_elbow_pitch",
    ),
    "missing joint": (
        lambda h: h["joints"]["all_joints"].remove("left_wrist_yaw"),
        r"joints.all_joints: missing \['left_wrist_yaw'\]",
    ),
    "duplicate joint": (
        lambda h: h["joints"]["all_joints"].append("left_wrist_yaw"),
        "joints.all_joints must name each joint once",
    ),
    "other order": (lambda h: h["joints"]["all_joints"].reverse(), "in the order"),
    "unknown slave": (
        lambda h: rename(h["joints"]["erob_slaves"], "left_wrist_yaw", "left_wrist_jaw"),
        r"joints.erob_slaves: unknown \['left_wrist_jaw'\]",
    ),
    "joint without drive": (
        lambda h: h["joints"]["mit_joints"].pop("left_wrist_roll"),
        r"joints.erob_slaves and joints.mit_joints: missing \['left_wrist_roll'\]",
    ),
    "joint with two drives": (
        lambda h: h["joints"]["mit_joints"].update(left_elbow_pitch={"id": 50, "model": "TA40-50"}),
        r"\['left_elbow_pitch'\] is in joints.erob_slaves and in joints.mit_joints",
    ),
    "same ring position": (
        lambda h: h["joints"]["erob_slaves"]["left_elbow_pitch"].update(position=4),
        "joints.erob_slaves: left_elbow_pitch, left_wrist_yaw have the same position",
    ),
    "same id": (
        lambda h: h["joints"]["mit_joints"]["left_wrist_roll"].update(id=39),
        "joints.mit_joints: left_wrist_roll, right_wrist_pitch have the same id",
    ),
    "no position": (
        lambda h: h["joints"]["erob_slaves"]["left_elbow_pitch"].pop("position"),
        "joints.erob_slaves.left_elbow_pitch.position is None, expected a whole number",
    ),
    "id as text": (
        lambda h: h["joints"]["mit_joints"]["left_wrist_roll"].update(id="22"),
        "joints.mit_joints.left_wrist_roll.id is '22', expected a whole number",
    ),
    "negative position": (
        lambda h: h["joints"]["erob_slaves"]["left_elbow_pitch"].update(position=-1),
        "joints.erob_slaves.left_elbow_pitch.position is -1, expected a whole number",
    ),
    "no model": (
        lambda h: h["joints"]["mit_joints"]["left_wrist_roll"].pop("model"),
        "joints.mit_joints.left_wrist_roll.model is None",
    ),
    "unknown model": (
        lambda h: h["joints"]["erob_slaves"]["left_elbow_pitch"].update(model="eRob90"),
        r"left_elbow_pitch.model: unknown \['eRob90'\]; known are .*eRob70_V4_MC2",
    ),
    "row is a number": (
        lambda h: h["joints"]["erob_slaves"].update(left_elbow_pitch=3),
        "joints.erob_slaves.left_elbow_pitch is 3, expected",
    ),
    "torque constant of no eRob": (
        lambda h: h["joints"].update(erob_kt={"left_wrist_roll": 1e-3}),
        r"joints.erob_kt: unknown \['left_wrist_roll'\]",
    ),
    "gear of no eRob": (
        lambda h: h["joints"].update(erob_gear={"left_wrist_roll": 51}),
        r"joints.erob_gear: unknown \['left_wrist_roll'\]",
    ),
    "gear of nothing": (
        lambda h: h["joints"].update(erob_gear={"left_wrist_yaw": 0}),
        "joints.erob_gear.left_wrist_yaw is 0, expected a number above 0",
    ),
    "torque constant as text": (
        lambda h: h["joints"].update(erob_kt={"left_wrist_yaw": "strong"}),
        "joints.erob_kt.left_wrist_yaw is strong, expected a number above 0",
    ),
    "model without gear": (
        lambda h: h["erob_models"]["eRob80_V5_MC2"].update(gear=-50),
        "erob_models.eRob80_V5_MC2.gear is -50, expected a number above 0",
    ),
    "model without facts": (
        lambda h: h["erob_models"].update(eRob80_V5_MC2=None),
        "erob_models.eRob80_V5_MC2 is None, expected a mapping",
    ),
    "misspelt serial number": (
        lambda h: h["joints"]["erob_slaves"]["left_elbow_pitch"].update(serial=4711),
        r"joints.erob_slaves.left_elbow_pitch: unknown \['serial'\]; known are .*serial_number",
    ),
    "unknown section": (
        lambda h: h.update(erob_kt={"left_elbow_pitch": 0.134e-3}),
        r"top level: unknown \['erob_kt'\]",
    ),
    "unknown bus": (lambda h: h["buses"].update(can3={}), r"buses: unknown \['can3'\]"),
    "parameter of the ring that the file does not have": (
        lambda h: h["buses"]["ethercat"].update(watchdog_time=0.2),
        r"buses.ethercat: unknown \['watchdog_time'\]; known are .*activation_timeout",
    ),
    "parameter of the CAN bus that the file does not have": (
        lambda h: h["buses"]["can"].update(guard_timeout=0.5),
        r"buses.can: unknown \['guard_timeout'\]; known are .*bitrate",
    ),
    "misspelt torque constants": (
        lambda h: h["joints"].update(erob_kts={"left_elbow_pitch": 0.134e-3}),
        r"joints: unknown \['erob_kts'\]; known are .*erob_kt",
    ),
    "misspelt efficiency": (
        lambda h: rename(
            h["erob_models"]["eRob70_V4_MC2"], "torque_efficiency", "torque_efficency"
        ),
        r"erob_models.eRob70_V4_MC2: unknown \['torque_efficency'\]",
    ),
    "no joints": (lambda h: h.pop("joints"), "joints is None, expected a mapping"),
    "no buses": (lambda h: h.pop("buses"), "buses is None, expected a mapping"),
    "no channel": (
        lambda h: h["buses"].update(can={"interface": "can2"}),
        r"buses.can: missing \['bitrate', 'channel'\]",
    ),
    "empty slaves": (
        lambda h: h["joints"].update(erob_slaves=None),
        "joints.erob_slaves is None, expected a mapping",
    ),
    "joints as text": (
        lambda h: h["joints"].update(all_joints="left_wrist_yaw"),
        "joints.all_joints is left_wrist_yaw, expected a list",
    ),
}


@pytest.mark.parametrize(("edit", "message"), EDITS.values(), ids=EDITS)
def test_hardware_file_that_contradicts_itself_is_refused(
    expand_with: Expand, config_folder: Path, tmp_path: Path, edit: Edit, message: str
) -> None:
    hardware = yaml.safe_load((config_folder / "prime_hardware.yaml").read_text())
    edit(hardware)
    copy = tmp_path / "copy.yaml"
    copy.write_text(yaml.safe_dump(hardware, sort_keys=False))
    with pytest.raises(ConfigError, match=message) as caught:
        expand_with(hardware_config=str(copy))
    # The file and nothing of xacro, whose expressions the operator did not write.
    assert str(caught.value).startswith(f"{copy}: ")
    assert "\n" not in str(caught.value)


def test_hardware_file_with_a_key_given_twice_is_refused_with_its_line(
    expand_with: Expand, config_folder: Path, tmp_path: Path
) -> None:
    shipped = (config_folder / "prime_hardware.yaml").read_text()
    copy = tmp_path / "copy.yaml"
    copy.write_text(
        shipped.replace("  mit_joints:", "  erob_kt: {left_elbow_pitch: 0.134e-3}\n  mit_joints:")
    )
    with pytest.raises(ConfigError, match=r"copy\.yaml:\d+: key 'erob_kt' given twice"):
        expand_with(hardware_config=str(copy))


def test_hardware_file_may_have_tags_of_xacro(
    expand_with: Expand, config_folder: Path, tmp_path: Path
) -> None:
    shipped = (config_folder / "prime_hardware.yaml").read_text()
    copy = tmp_path / "copy.yaml"
    copy.write_text(shipped.replace("activation_timeout: 5.0", "activation_timeout: !degrees 360"))
    assert ">6.28" in expand_with(hardware_config=str(copy))


def test_empty_optional_overrides_are_allowed(
    expand_with: Expand, config_folder: Path, tmp_path: Path
) -> None:
    hardware = yaml.safe_load((config_folder / "prime_hardware.yaml").read_text())
    hardware["joints"].update(erob_kt=None, erob_gear=None)
    copy = tmp_path / "copy.yaml"
    copy.write_text(yaml.safe_dump(hardware, sort_keys=False))
    installed = str(config_folder / "prime_hardware.yaml")
    assert expand_with(hardware_config=str(copy)) == expand_with().replace(installed, str(copy))


@pytest.fixture
def installed(config_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An ament prefix with both packages, as after `colcon build`."""
    for package, source in (
        ("prime_description", Path(__file__).parents[1] / "robots"),
        ("humanoid_bringup_prime", config_folder),
        ("humanoid_description", Path(__file__).parents[2] / "humanoid_description/macros"),
    ):
        index = tmp_path / "share/ament_index/resource_index/packages"
        index.mkdir(parents=True, exist_ok=True)
        (index / package).touch()
        shutil.copytree(source, tmp_path / "share" / package / source.name)
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    return tmp_path


def test_installed_package_needs_no_paths(installed: Path) -> None:
    urdf = expand({"use_sim": "false"})
    assert f"{installed}/share/humanoid_bringup_prime/config/prime_calibration.yaml" in urdf
    assert "PrimeEtherCATSide" in urdf


def test_command_line_xacro_gives_the_same_text(installed: Path) -> None:
    file = installed / "share/prime_description/robots/prime_dummy/xacro/prime_dummy.urdf.xacro"
    program = [sys.executable, "-c", "import xacro; xacro.main()"]
    done = subprocess.run(
        [*program, str(file), "use_sim:=true"], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == expand({"use_sim": "true"}).strip()


def test_package_that_is_not_installed_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    with pytest.raises(ConfigError, match="prime_description is not installed"):
        expand({})


def test_missing_bringup_package_is_named(installed: Path) -> None:
    (installed / "share/ament_index/resource_index/packages/humanoid_bringup_prime").unlink()
    with pytest.raises(ConfigError, match="humanoid_bringup_prime"):
        expand({})
