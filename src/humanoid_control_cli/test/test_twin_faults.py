"""`hc twin break` and `mend`, against the process of the virtual robot."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from humanoid_bringup.robot_package import find_robot
from humanoid_control_cli.errors import NoAnswerError, RefusedError
from humanoid_control_cli.twin import faults
from humanoid_control_common.machine.rights import RAW_ETHERNET, held_capabilities
from humanoid_control_common.robot.robot_description import share_folder
from humanoid_twin.can.motors.families import MOTOR_FAMILIES
from humanoid_twin.robot.control import RobotControl
from humanoid_twin.testing import robot
from prime_description import expand

ELBOW, WRIST = "right_elbow_pitch", "left_wrist_pitch"


@pytest.fixture
def domain(monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setenv("ROS_DOMAIN_ID", "77")
    return 77


@pytest.fixture
def prime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RobotControl]:
    """A virtual robot in the place of the one of this domain."""
    if not held_capabilities() >= set(RAW_ETHERNET):
        pytest.skip("needs CAP_NET_RAW and CAP_NET_ADMIN (root)")
    urdf = tmp_path / "prime.urdf"
    urdf.write_text(expand({}))
    with robot(urdf, clock="stepped") as running:
        monkeypatch.setattr(faults, "control_socket", lambda namespace: running.socket)
        yield running.control


def test_a_wrist_is_broken_by_its_name(prime: RobotControl) -> None:
    assert faults.mend_joint(WRIST) == f"nothing is wrong with {WRIST}"
    answer = faults.break_joint(WRIST, None)
    assert answer.startswith(f"{WRIST} has disabled itself")
    found = prime.can_drives().items()
    assert [id for id, motor in found if motor["firmware"]["faults"]] == [23]
    answer = faults.mend_joint(WRIST)
    assert answer.startswith(f"the fault of {WRIST} has no lasting cause; `hc clear-fault`")


def test_a_robstride_is_broken_by_a_fault_that_is_named_and_can_be_at_its_temperature(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    urdf, config = tmp_path / "lite.urdf", share_folder("humanoid_bringup_lite") / "config"
    urdf.write_text(find_robot("lite").expand({}))
    with robot(urdf, config / "lite_virtual_robot.yaml", clock="stepped") as lite:
        monkeypatch.setattr(faults, "control_socket", lambda namespace: lite.socket)
        assert "stall overload" in faults.break_joint(ELBOW, None)
        found = lite.control.bus("right_can").can_drives().items()
        broken = {id_: motor["firmware"]["faults"] for id_, motor in found}
        assert {id_: it for id_, it in broken.items() if it} == {
            24: MOTOR_FAMILIES["robstride"].fault
        }


@pytest.mark.parametrize(("given", "code"), [(None, 0x8500), ("0x8400", 0x8400), ("29455", 0x730F)])
def test_an_erob_is_put_at_fault_by_its_name_and_a_new_battery_helps(
    prime: RobotControl, given: str | None, code: int
) -> None:
    assert faults.mend_joint(ELBOW) == f"nothing is wrong with {ELBOW}"
    answer = faults.break_joint(ELBOW, given)
    assert answer.startswith(f"{ELBOW} reports 0x{code:04X}; ")
    assert ("hc twin mend" in answer) == (code == 0x730F)
    assert [drive["error"] for drive in prime.drives()] == [0] * 8 + [code, 0]
    expected = "has a new battery" if code == 0x730F else "has no lasting cause"
    assert expected in faults.mend_joint(ELBOW)


@pytest.mark.parametrize(
    ("joint", "error", "message"),
    [
        ("left_elbow", None, "no joint 'left_elbow', there are left_shoulder_pitch, "),
        (WRIST, "0x8500", f"{WRIST} has a CAN motor, which has no error codes: no --error"),
        (ELBOW, "0x8501", "'0x8501' is no error code of an eRob, there are 0xA000, 0x8500, "),
        (ELBOW, "hot", "'hot' is no error code of an eRob, there are "),
    ],
)
def test_hc_twin_break_refuses_unknown_joints_and_error_codes(
    prime: RobotControl, joint: str, error: str | None, message: str
) -> None:
    with pytest.raises(RefusedError) as refused:
        faults.break_joint(joint, error)
    assert str(refused.value).startswith(message)


@pytest.mark.parametrize("stale", [False, True])
def test_a_domain_without_a_virtual_robot_is_reported(domain: int, stale: bool) -> None:
    path = faults.control_socket()
    assert path.name == f"humanoid_control_{os.getuid()}_domain_77_twin"
    if stale:
        path.touch()  # of a killed virtual robot
    try:
        for ask in (
            lambda: faults.break_joint(ELBOW, "0x8500"),
            lambda: faults.mend_joint(WRIST),
        ):
            with pytest.raises(NoAnswerError, match="no virtual robot runs on ROS_DOMAIN_ID 77"):
                ask()
    finally:
        path.unlink(missing_ok=True)
