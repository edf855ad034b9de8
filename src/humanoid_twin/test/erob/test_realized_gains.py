"""Stiffness by a load, damping by a speed: golden numbers computed by hand from the documents.

kd = 0.1063 · velocity register · efficiency, kp = kd · 0.01943 · position register.
"""

import pytest

from humanoid_twin.erob.parameters import DriveParameters
from humanoid_twin.physics.plant import Inertia

EROB80 = 0.134e-3  # [Nm/mA]

# position register, velocity register, efficiency → kp [Nm/rad], kd [Nm s/rad]
GOLDEN = [
    pytest.param(515, 19, 0.7, 14.147, 1.4138, id="standby_20_2_as_realized"),
    pytest.param(515, 27, 0.7, 20.104, 2.0091, id="standby_20_2_compensated_by_0.7"),
    pytest.param(515, 19, 1.0, 20.210, 2.0197, id="lossless_drive"),
    pytest.param(1029, 38, 0.7, 56.533, 2.8276, id="twice_the_ratio"),
    pytest.param(5147, 941, 1.0, 10003.4, 100.028, id="51.47_and_9.41_per_unit"),
]


def measure_stiffness(bench, load: float) -> float:
    bench.enable()
    bench.robot.plant.set_external_torque(0, load)
    bench.robot.step(4000)
    assert abs(bench.speed) < 1e-3
    return load / bench.angle


def measure_damping(bench, load: float) -> float:
    bench.enable()
    bench.robot.plant.set_external_torque(0, load)
    bench.follow(4000)
    return load / bench.speed


@pytest.mark.parametrize(("position", "velocity", "efficiency", "kp", "_kd"), GOLDEN)
def test_static_load_shows_the_stiffness_of_the_registers(
    make_bench, position, velocity, efficiency, kp, _kd
):
    bench = make_bench(drive=DriveParameters(efficiency=efficiency))
    bench.registers(position=position, velocity=velocity)
    load = min(kp / 4, 30.0)
    assert measure_stiffness(bench, load) == pytest.approx(kp, rel=0.02)
    stiffness, pull = bench.drive.spring()
    assert stiffness == pytest.approx(kp, rel=5e-4)  # of the registers, not measured
    assert pull == pytest.approx(-load, rel=0.02)
    bench.drive.raise_error(0x8500)
    assert bench.drive.spring() == (0.0, 0.0)


@pytest.mark.parametrize(("_position", "velocity", "efficiency", "_kp", "kd"), GOLDEN)
def test_constant_load_shows_the_damping_of_the_register(
    make_bench, _position, velocity, efficiency, _kp, kd
):
    bench = make_bench(drive=DriveParameters(efficiency=efficiency))
    bench.registers(position=0, velocity=velocity)
    assert measure_damping(bench, min(kd, 30.0)) == pytest.approx(kd, rel=0.02)


def test_damping_of_6_is_realized_within_rounding_when_efficiency_is_compensated(make_bench):
    bench = make_bench()
    bench.registers(position=0, velocity=81)  # 6 / 0.7 / 0.1063 = 80.63
    assert measure_damping(bench, 6.0) == pytest.approx(6.027, rel=0.005)


def test_erob80_is_stiffer_by_its_torque_constant_at_equal_registers(make_bench):
    small, large = (
        make_bench(drive=DriveParameters(torque_constant=constant))
        for constant in (0.132e-3, EROB80)
    )
    measured = []
    for bench in (small, large):
        bench.registers(position=515, velocity=19)
        measured.append(measure_stiffness(bench, 5.0))
    assert measured[1] / measured[0] == pytest.approx(1.01515, rel=0.001)


def test_zero_registers_leave_the_joint_limp(bench):
    bench.registers(position=0, velocity=0)
    bench.enable()
    bench.robot.plant.set_external_torque(0, 0.3)
    bench.robot.step(1000)
    assert bench.speed == pytest.approx(1.0, rel=0.01)  # 0.3 Nm on 0.3 kg m² for 1 s: no drag
    assert bench.read(0x6077, signed=True) == 0


def test_position_register_without_velocity_register_is_limp_too(bench):
    bench.registers(position=515, velocity=0)
    bench.enable()
    bench.robot.plant.set_external_torque(0, 0.3)
    bench.robot.step(1000)
    assert bench.speed == pytest.approx(1.0, rel=0.01)


def test_integral_takes_away_what_the_load_leaves(make_bench):
    deflections = []
    for integral in (0, 20):
        bench = make_bench()
        bench.registers(position=515, velocity=81, integral=integral)
        bench.enable()
        bench.robot.plant.set_external_torque(0, 3.0)
        bench.robot.step(10_000)
        deflections.append(bench.angle)
    assert deflections[0] == pytest.approx(3.0 / 60.3, rel=0.02)  # 81 · 0.1063 · 0.7 · 10.006
    assert abs(deflections[1]) < 0.01 * deflections[0]


def test_integral_left_by_the_factory_gains_is_gone_when_soft_gains_act(bench):
    bench.enable()
    bench.robot.plant.set_external_torque(0, 5.0)
    bench.robot.step(5000)
    assert abs(bench.angle) < 1e-3  # held by the integral part alone
    bench.robot.plant.set_external_torque(0, 0.0)
    bench.registers(position=0, velocity=19)
    bench.robot.step(1000)
    assert abs(bench.speed) < 0.01


def test_current_limit_bounds_the_torque(make_bench):
    bench = make_bench(drive=DriveParameters(current_limit=1000.0))
    bench.registers(position=515, velocity=190)
    bench.enable()
    bench.robot.plant.set_external_torque(0, 4.7)  # 1000 mA · 0.132e-3 · 50 · 0.7 = 4.62 Nm
    bench.robot.step(1000)
    before = bench.speed
    bench.robot.step(1000)
    assert bench.speed - before == pytest.approx((4.7 - 4.62) / 0.3, rel=1e-3)
    assert bench.read(0x6077, signed=True) == -154  # 4.62 / 30 Nm in 0.1 %


def test_factory_gains_are_stiff(make_bench):
    bench = make_bench(inertia=Inertia(inertia=0.05))
    bench.enable()
    bench.robot.plant.set_external_torque(0, 5.0)
    sag = 0.0
    for _ in range(3000):
        bench.robot.step()
        sag = max(sag, bench.angle)
    assert 0.005 < sag < 5.0 / 300
