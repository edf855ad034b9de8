"""Parameters into registers, by the numbers of the actuator documents."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.rules.modes import Mode
from humanoid_devices_erob.impedance.drives import Drives, ImpedanceParameters, mode_table

Make = Callable[..., ImpedanceParameters]


def table(chosen: ImpedanceParameters) -> dict[Mode, list[tuple[int, int, int]]]:
    modes = mode_table(Drives.of(chosen), chosen)
    return {
        mode: [(r.position_gain, r.velocity_gain, r.velocity_integral) for r in row]
        for mode, row in modes.items()
    }


def test_every_mode_has_the_registers_of_the_documents(
    make_parameters: Make, registers: dict[Mode, tuple[int, int, int]]
) -> None:
    found = table(make_parameters(2))
    assert found == {mode: [row, row] for mode, row in registers.items()}


def test_efficiency_is_compensated_in_the_velocity_gain_alone(make_parameters: Make) -> None:
    found = table(make_parameters(1, torque_efficiency=0.7))
    # 9.408 · kd / 0.7, rounded: 26.88 and 80.64.
    assert found[Mode.STANDBY] == [(515, 27, 0)]
    assert found[Mode.DAMPING] == [(0, 81, 0)]


def test_motor_and_gear_of_each_drive_count(make_parameters: Make) -> None:
    kd = [0.0, 100.0, 2.0, 2.0, 2.0]
    chosen = make_parameters(3, mode_kd=kd, kt=[0.132e-3, 0.134e-3, 0.132e-3], gear=[50, 50, 100])
    # 940.8, × 0.132/0.134 = 926.7, and half of it.
    assert table(chosen)[Mode.DAMPING] == [(0, 941, 0), (0, 927, 0), (0, 470, 0)]
    assert {row[0] for row in table(chosen)[Mode.STANDBY]} == {515}


@pytest.mark.parametrize("efficiency", [1.0, 0.7])
def test_realized_gains_are_those_of_the_rounded_registers(
    make_parameters: Make, efficiency: float
) -> None:
    drives = Drives.of(make_parameters(2, torque_efficiency=efficiency))
    stiffness, damping = drives.realized([(515, 19, 0), (0, 56, 0)])
    np.testing.assert_allclose(damping, efficiency * 0.1063 * np.array([19, 56]), rtol=1e-3)
    np.testing.assert_allclose(
        stiffness, [efficiency * 0.1063 * 19 * 0.01943 * 515, 0.0], rtol=1e-3
    )


def test_unknown_registers_give_unknown_gains_not_zero(make_parameters: Make) -> None:
    stiffness, damping = Drives.of(make_parameters(2)).realized([(-1, -1, -1), (0, 0, 0)])
    assert math.isnan(stiffness[0])
    assert math.isnan(damping[0])
    assert (stiffness[1], damping[1]) == (0.0, 0.0)


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "stiffness without damping": (
        {"mode_kd": [0.0, 6.0, 0.0, 2.0, 2.0]},
        "STANDBY has stiffness 20 without damping",
    ),
    "stiffness in DAMPING": (
        {"mode_kp": [0.0, 20.0, 20.0, 20.0, 20.0]},
        r"of DAMPING \(value 1\) are 20 and 6, expected 0 and more than 0",
    ),
    "DAMPING without damping": (
        {"mode_kd": [0.0, 0.0, 2.0, 2.0, 2.0]},
        r"of DAMPING \(value 1\) are 0 and 0, expected 0 and more than 0",
    ),
    "stiffness in ZERO_TORQUE": (
        {"mode_kp": [20.0, 0.0, 20.0, 20.0, 20.0], "mode_kd": [2.0, 6.0, 2.0, 2.0, 2.0]},
        r"of ZERO_TORQUE \(value 0\) are 20 and 2, expected 0 and 0",
    ),
    "damping in ZERO_TORQUE": (
        {"mode_kd": [2.0, 6.0, 2.0, 2.0, 2.0]},
        r"of ZERO_TORQUE \(value 0\) are 0 and 2, expected 0 and 0",
    ),
    "four modes": ({"mode_kp": [0.0] * 4}, "mode_kp"),
    "negative": ({"mode_kd": [0.0, -6.0, 2.0, 2.0, 2.0]}, "mode_kd.1"),
    "not a number": ({"mode_kp": [0.0, 0.0, math.nan, 20.0, 20.0]}, "mode_kp.2"),
    "efficiency above one": ({"torque_efficiency": 1.4}, "torque_efficiency"),
    "efficiency with a slip of the decimal point": (
        {"torque_efficiency": 0.07},
        "torque_efficiency",
    ),
    "one gear missing": ({"gear": [50.0]}, "gear has 1 values for 2 joint_names"),
    "one slave twice": ({"ring_positions": [3, 3]}, "ring_positions names one twice"),
    "one joint twice": ({"joint_names": ["a", "a"]}, "joint_names names one twice"),
    "unknown transport": ({"transport": "telepathy"}, "transport"),
    "misspelt": ({"paralel_sdo": True}, "paralel_sdo"),
}


@pytest.mark.parametrize(("changes", "message"), WRONG.values(), ids=WRONG)
def test_parameters_that_make_no_sense_are_refused(
    make_parameters: Make, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValidationError, match=message):
        make_parameters(2, **changes)


def test_damping_too_small_for_a_register_is_refused_and_not_made_limp(
    make_parameters: Make,
) -> None:
    chosen = make_parameters(1, mode_kd=[0.0, 0.05, 2.0, 2.0, 2.0])
    with pytest.raises(ConfigError, match=r"gains of DAMPING: damping 0\.05 .* smallest step"):
        table(chosen)


def test_stiffness_too_small_for_a_register_is_refused_and_not_made_zero(
    make_parameters: Make,
) -> None:
    # 51.47 · 0.05 / 6 = 0.43, rounded: 0.
    chosen = make_parameters(
        1, mode_kp=[0.0, 0.0, 0.05, 20.0, 20.0], mode_kd=[0.0, 6.0, 6.0, 2.0, 2.0]
    )
    with pytest.raises(ConfigError, match=r"gains of STANDBY: stiffness 0\.05 .* smallest step"):
        table(chosen)


def test_a_torque_constant_of_another_unit_is_refused_by_the_joint(make_parameters: Make) -> None:
    chosen = make_parameters(2)
    other = chosen.model_copy(update={"kt": [chosen.kt[0], chosen.kt[1] * 1e3]})  # in Nm/A
    with pytest.raises(ConfigError) as caught:
        table(other)
    expected = f"smallest step of {chosen.joint_names[1]} by kt and gear in the hardware file"
    assert expected in str(caught.value)
