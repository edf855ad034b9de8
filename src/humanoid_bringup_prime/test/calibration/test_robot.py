"""The robot's facts in a calibration, and the bring-up for a calibration."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from ament_index_python.packages import get_package_share_directory

from humanoid_bringup.calibration.formulas import Interval, JointCalibration
from humanoid_bringup.calibration.robot import Robot, read_robot
from humanoid_bringup.options import Backend, Options
from humanoid_bringup.plan import notes, plan
from humanoid_control_common.configuration.config import Document
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.rules.modes import Mode
from humanoid_devices_erob.impedance.wiring import mode_gains
from prime_description import expand

CONFIG = Path(get_package_share_directory("humanoid_bringup_prime")) / "config"
WRISTS = {"left_wrist_roll", "left_wrist_pitch", "right_wrist_roll", "right_wrist_pitch"}

Edit = Callable[[dict[str, Any]], object]


@pytest.fixture
def edited(tmp_path: Path) -> Callable[[Edit], Path]:
    """Return a copy of the installed calibration file with changes."""

    def make(edit: Edit) -> Path:
        content = yaml.safe_load((CONFIG / "prime_calibration.yaml").read_text())
        edit(content)
        path = tmp_path / "calibration.yaml"
        path.write_text(yaml.safe_dump(content, sort_keys=False))
        return path

    return make


@pytest.fixture(scope="module")
def urdf() -> str:
    """The description of the real robot; tests replace its calibration file."""
    return expand({"calibration_file": "/nowhere.yaml"})


def robot(**arguments: str) -> Robot:
    return read_robot(expand(arguments))


def test_all_joints_their_drives_and_their_limits_are_known(edited: Any) -> None:
    path = edited(lambda c: c["left_elbow_pitch"].update(direction=-1, homing_offset=0.5))
    found = robot(calibration_file=str(path), control_frequency="50")
    assert len(found.joints) == 14
    assert found.file == path
    assert found.loose == WRISTS
    assert set(found.drives) == set(found.joints.names) - WRISTS
    elbow = found.drives["left_elbow_pitch"]
    assert (elbow.slave, elbow.least_damping) == (3, 56)  # 9.408 · 6, rounded
    assert found.ids["right_wrist_pitch"] == 39
    assert found.prior["left_elbow_pitch"] == JointCalibration(-1, 0.5)
    assert found.limits["left_elbow_pitch"] == Interval(-2.3, 0.35)
    place = found.joints.names.index("left_elbow_pitch")
    assert found.in_force.direction[place] == -1.0
    assert found.in_force.homing_offset[place] == 0.5
    assert found.period == pytest.approx(0.02)


def test_the_drive_of_a_joint_is_the_one_at_its_ring_position(edited: Any, tmp_path: Path) -> None:
    hardware = yaml.safe_load((CONFIG / "prime_hardware.yaml").read_text())
    slaves = hardware["joints"]["erob_slaves"]
    at = dict(zip(slaves, [7, 6, 9, 2, 5, 0, 4, 1, 8, 3], strict=True))
    for joint, position in at.items():
        slaves[joint]["position"] = position
    hardware["joints"]["erob_gear"] = {"left_elbow_pitch": 100}
    wired = tmp_path / "hardware.yaml"
    wired.write_text(yaml.safe_dump(hardware))
    path = edited(lambda c: [c[joint].update(id=position) for joint, position in at.items()])
    found = robot(calibration_file=str(path), hardware_config=str(wired))
    assert {name: drive.slave for name, drive in found.drives.items()} == at
    assert {name: found.ids[name] for name in at} == at
    other = [name for name, drive in found.drives.items() if drive.least_damping != 56]
    assert other == ["left_elbow_pitch"]


def test_the_calibration_of_mocked_joints_is_kept_but_not_in_force(edited: Any) -> None:
    path = edited(lambda c: c["left_wrist_roll"].update(direction=-1, homing_offset=0.5))
    found = robot(calibration_file=str(path), backends="ec")
    place = found.joints.names.index("left_wrist_roll")
    assert found.loose == set()
    assert found.prior["left_wrist_roll"] == JointCalibration(-1, 0.5)
    assert (found.in_force.direction[place], found.in_force.homing_offset[place]) == (1.0, 0.0)


def test_a_simulated_robot_cannot_be_calibrated() -> None:
    with pytest.raises(ConfigError, match=r"has no calibration: .* `hc up real --calibrate`"):
        robot(use_sim="true")


BAD: list[tuple[Edit, str]] = [
    (lambda c: c.pop("left_wrist_roll"), "no calibration for left_wrist_roll: the file needs"),
    (lambda c: c.update(torso=dict(c["left_wrist_roll"])), "unknown joint 'torso'; the robot has"),
    (
        lambda c: c["left_wrist_yaw"].update(direction=2),
        "'left_wrist_yaw.direction': expected",
    ),
    (lambda c: c["left_wrist_yaw"].update(homing_offset=float("nan")), "finite number (found nan)"),
    (lambda c: c["left_wrist_yaw"].update(id=9), "left_wrist_yaw was calibrated on id 9, but the"),
    (
        lambda c: c["left_wrist_roll"].update(id=38),
        "calibrated on id 38, but the",
    ),
]


@pytest.mark.parametrize(("edit", "message"), BAD, ids=[message[:30] for _, message in BAD])
def test_a_bad_calibration_file_is_reported_in_a_sentence(
    urdf: str, edited: Any, edit: Edit, message: str
) -> None:
    path = edited(edit)
    with pytest.raises(ConfigError) as caught:
        read_robot(urdf.replace("/nowhere.yaml", str(path)))
    assert message in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def param(name: str, value: object) -> str:
    return f'<param name="{name}">{value}</param>'


def test_addresses_may_be_hexadecimal(edited: Any) -> None:
    urdf = expand({"calibration_file": str(edited(lambda _: None))})
    for name, value in (("can_id", 22), ("ring_position", 3)):
        assert param(name, value) in urdf
        urdf = urdf.replace(param(name, value), param(name, hex(value)))
    found = read_robot(urdf)
    assert found.ids["left_wrist_roll"] == 22
    assert found.drives["left_elbow_pitch"].slave == 3


def gains_of(urdf: str) -> dict[str, Any]:
    """The gains of the drives in each mode, as a bring-up of the robot computes them."""
    content = {"mode_kp": [0.0] * 5, "mode_kd": [0.0, 6.0, 6.0, 6.0, 6.0]}
    return mode_gains(urdf, 50, Document("controllers.yaml", content))


@pytest.mark.parametrize("reader", [read_robot, gains_of])
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (param("ring_position", 4), "", "<param name='ring_position'> is missing"),
        (
            param("ring_position", 4),
            param("ring_position", "4.0"),
            "ring_position is '4.0', expected a whole number",
        ),
        (param("kt", "0.000132"), "", "<param name='kt'> is missing"),
        (param("kt", "0.000132"), param("kt", "big"), "kt: expected a finite number, found 'big'"),
        (param("gear", 50), param("gear", 0), "gear is 0, expected 30 to 320"),
    ],
)
def test_a_bad_fact_of_a_drive_is_reported_with_its_file_and_block(
    edited: Any, reader: Callable[[str], object], old: str, new: str, message: str
) -> None:
    urdf = expand({"calibration_file": str(edited(lambda _: None))})
    assert old in urdf
    where = r"prime_hardware\.yaml: <ros2_control name='PrimeEtherCATSide'>"
    with pytest.raises(ConfigError, match=where) as caught:
        reader(urdf.replace(old, new, 1))
    assert message in str(caught.value)


def test_an_id_that_is_no_number_is_reported_with_its_joint(edited: Any) -> None:
    urdf = expand({"calibration_file": str(edited(lambda _: None))})
    bad = urdf.replace(param("can_id", 22), param("can_id", "x16"))
    with pytest.raises(ConfigError, match="joint 'left_wrist_roll': can_id is 'x16', expected a w"):
        read_robot(bad)


def test_a_bad_calibration_file_is_refused_before_anything_is_started(
    edited: Any, tmp_path: Path
) -> None:
    path = edited(lambda c: c.pop("left_wrist_roll"))
    with pytest.raises(ConfigError, match="no calibration for left_wrist_roll"):
        plan(Options(backend=Backend.REAL, viewer=False, calibration_file=path), tmp_path)


def test_a_bring_up_for_calibration_is_the_real_one_without_the_impedance_manager(
    tmp_path: Path,
) -> None:
    options = {"backend": Backend.REAL, "backends": "all", "viewer": False}
    usual = plan(Options(**options), tmp_path)
    found = plan(Options(calibrate=True, **options), tmp_path)
    assert found == [process for process in usual if process.label != "impedance"]
    assert len(found) == len(usual) - 1
    (control,) = (process for process in found if process.label == "control")
    modes = yaml.safe_load(control.parameter_files[1].read_text())["mode_manager"]
    # The mode manager waits for an impedance manager that sends no state: no stiff mode.
    assert modes["ros__parameters"]["impedance_manager"] == "erob_impedance_manager/state"
    assert any("`hc calibrate`" in note for note in notes(Options(calibrate=True, **options)))


def test_a_bring_up_for_calibration_begins_limp() -> None:
    with pytest.raises(ConfigError, match="DAMPING, expected ZERO_TORQUE for a calibration"):
        Options(backend=Backend.REAL, calibrate=True, initial_mode=Mode.DAMPING)
