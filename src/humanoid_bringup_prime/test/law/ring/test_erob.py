"""An eRob drive realizes position and damping of the MIT law, and the gains of every mode."""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np
import pytest

from humanoid_control_common.robot.mit_interface import COMMAND_INTERFACES, Capability
from humanoid_control_common.rules.modes import Mode
from humanoid_devices_erob.drive.gains import gains_to_registers
from humanoid_devices_erob.impedance.drives import Drives, ImpedanceParameters
from humanoid_devices_erob.impedance.drives import mode_table as registers_by_mode

EFFICIENCY = (1.0, 0.7)  # `torque_efficiency` that the gains of each drive allow for
REALIZED = (0.7, 1.0)  # share of the commanded gains that acts, of each drive
# Half a unit of the registers: [Nm s/rad] of 0x2381:01 behind a transmission that leaves 0.7,
# [1/s] of 0x2382:01, which is stiffness / damping.
HALF_DAMPING = 0.5 * 0.7 * 0.1063
HALF_RATIO = 0.5 * 0.01943
COUNT = 2 * pi / 524288  # [rad]
DERIVATION = 1 / 524288  # relative: the vendor's derivation has a count less per turn


def rounding(stiffness: float, damping: float) -> tuple[float, float]:
    """Return the largest error of realized gains, since registers are whole numbers."""
    if damping == 0.0:
        return 0.0, 0.0
    ratio, half_ratio = stiffness / damping, HALF_RATIO if stiffness else 0.0
    return HALF_DAMPING * ratio + (damping + HALF_DAMPING) * half_ratio, HALF_DAMPING


def test_position_and_damping_part_act_at_the_joint(
    rig: Any, row: Any, known_state: Any, law_table: Any
) -> None:
    position, velocity = known_state
    soft = Mode.DAMPING if row.damping else Mode.ZERO_TORQUE
    mode = Mode.STANDBY if row.stiffness else soft
    registers = gains_to_registers(
        row.stiffness, row.damping,
        torque_constant=0.132e-3, gear=50.0, torque_efficiency=np.array(EFFICIENCY),
    )  # fmt: skip
    rig.command(row, mode, [registers.of(0), registers.of(1)])
    torques = rig.joints.torque_at(position, velocity).tolist()
    for torque, share in zip(torques, REALIZED, strict=True):
        kp, kd = share * row.stiffness, share * row.damping
        part = kp * (row.position - position) - kd * velocity
        half_kp, half_kd = rounding(kp, kd)
        bound = half_kp * abs(row.position - position) + half_kd * abs(velocity) + 1e-9
        bound += (kp + half_kp) * 0.5 * COUNT + DERIVATION * abs(part)
        assert bound < 0.06  # [Nm]; the registers are coarse
        law_table.add(row.name, f"eRob, {share:g} of kp, kd", part, torque, torque - part, bound)
        assert torque == pytest.approx(part, abs=bound)


def test_velocity_and_effort_are_known_not_to_act(rig: Any) -> None:
    acts = dict(zip(COMMAND_INTERFACES, rig.system.capabilities()[:, 0], strict=True))
    assert acts["velocity"] == acts["effort"] == Capability.NEVER


@pytest.fixture(scope="module")
def registers(shipped: Any) -> list[Any]:
    """The registers of each drive by mode, for the shipped gains."""

    def table(efficiency: float) -> Any:
        wired = {"joint_names": ["j"], "ring_positions": [0], "kt": [0.132e-3], "gear": [50.0]}
        chosen = {"update_rate": 50, "torque_efficiency": efficiency}
        own = {**shipped["erob_impedance_manager"], **wired, **chosen}
        parameters = ImpedanceParameters.model_validate(own)
        return registers_by_mode(Drives.of(parameters), parameters)

    return [table(efficiency) for efficiency in EFFICIENCY]


def test_mode_has_the_gains_of_the_documents_at_the_joint(
    rig: Any, nominal: Any, registers: Any, measurement: Any, mode_table: Any
) -> None:
    mode = nominal.mode
    rig.command(nominal.row, mode, [table[mode][0] for table in registers])
    held, loaded = measurement.held(rig.joints), measurement.loaded(rig.joints, nominal)
    for i, (efficiency, share) in enumerate(zip(EFFICIENCY, REALIZED, strict=True)):
        joint = f"eRob, torque_efficiency {efficiency:g}"
        mode_table.add_mode(nominal, joint, held.of(i), loaded.of(i))
        kp, kd = share * nominal.stiffness, share * nominal.damping
        half_kp, half_kd = rounding(kp, kd)
        for found, tolerance in ((held.of(i), 1e-4), (loaded.of(i), 0.01)):
            assert found[0] == pytest.approx(kp, abs=half_kp + tolerance * kp)
            assert found[1] == pytest.approx(kd, abs=half_kd + tolerance * kd)
