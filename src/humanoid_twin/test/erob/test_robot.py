import math

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from humanoid_control_common.errors import ConfigError
from humanoid_twin.erob.build import bench as flywheels
from humanoid_twin.erob.build import build_robot, prime_arms
from humanoid_twin.erob.parameters import DriveParameters, LoopGains
from humanoid_twin.ethercat.firmware import AlState, Firmware
from humanoid_twin.mounting import Mounting
from humanoid_twin.physics.plant import Inertia, Plant

OUTPUTS = {0x6040: 2, 0x607A: 4, 0x6060: 1, 0x60FE: 4}  # bytes of both mappings of the vendor
INPUTS = {0x6041: 2, 0x6064: 4, 0x606C: 4, 0x6077: 2, 0x60FD: 4}


def test_drive_and_plant_have_the_interfaces_and_objects_of_the_ring():
    robot = build_robot(prime_arms(1))
    firmware: Firmware = robot.drives[0]
    physics: Plant = robot.plant
    firmware.al_state_changed(AlState.PREOP)
    firmware.step(0.001)
    physics.step(dt=0.001)
    entries = firmware.dictionary
    assert {index: entries.entry(index, 0).bits // 8 for index in OUTPUTS} == OUTPUTS
    assert {index: entries.entry(index, 0).bits // 8 for index in INPUTS} == INPUTS
    assert all(entries.entry(index, 0).pdo_mappable for index in [*OUTPUTS, *INPUTS])


@pytest.mark.parametrize("index", [0x2381, 0x2382, 0x2383], ids=hex)
def test_gains_and_gate_travel_by_sdo_only(bench, index):
    entries = bench.drive.dictionary.objects[index].entries
    assert not any(entry.pdo_mappable for entry in entries.values())


def test_encoder_has_19_bits_per_turn(make_bench):
    bench = make_bench(position=math.pi)
    bench.robot.step()
    assert bench.read(0x6064) == 262144


def test_speed_is_shown_in_counts_per_second(bench):
    bench.robot.plant.set_state(0, 0.0, -2 * math.pi)
    bench.robot.step()
    assert bench.read(0x606C, signed=True) == -524288


def test_mounting_turns_and_shifts_what_the_encoder_measures(make_bench):
    bench = make_bench(mounting=Mounting(direction=-1, offset=0.5), position=0.2)
    bench.robot.plant.set_state(0, 0.2, 1.0)
    bench.robot.step()
    assert bench.read(0x6064, signed=True) == 25033  # (0.5 − 0.2) · 524288 / 2π
    assert bench.read(0x606C, signed=True) == -83443


def test_reversed_drive_holds_its_joint(make_bench):
    bench = make_bench(
        mounting=Mounting(direction=-1, offset=0.5), inertia=Inertia(inertia=0.3, gravity=6.0),
        position=0.6,
    )  # fmt: skip
    bench.enable()
    bench.robot.step(2000)
    assert bench.angle == pytest.approx(0.6, abs=0.02)
    assert bench.read(0x6077, signed=True) < 0  # against gravity, in the direction of the drive


def test_arms_sag_until_they_are_enabled():
    robot = build_robot(prime_arms())
    for joint in range(10):
        robot.plant.set_state(joint, 0.6, 0.0)
    robot.step(2000)
    assert all(abs(robot.plant.position) < 0.5)


def test_arms_come_to_rest_in_the_factory_gains():
    robot = build_robot(prime_arms())
    for joint, drive in enumerate(robot.drives):
        robot.plant.set_state(joint, 0.6, 0.0)
        drive.al_state_changed(AlState.OP)
        for word in (0x06, 0x07, 0x0F):
            drive.controlword = word
    robot.step(5000)
    assert {drive.statusword for drive in robot.drives} == {5687}
    assert robot.plant.position == pytest.approx(0.6, abs=0.02)
    assert robot.plant.velocity == pytest.approx(0.0, abs=0.01)


@settings(deadline=None, max_examples=40)
@given(
    position=st.integers(0, 1000), velocity=st.integers(0, 150),
    inertia=st.sampled_from([0.05, 0.1, 0.3]), start=st.floats(-0.1, 0.1),
    speed=st.floats(-0.5, 0.5),
)  # fmt: skip
def test_drive_takes_energy_out_of_a_joint_that_only_moves_around_its_target(
    make_bench, position, velocity, inertia, start, speed
):
    bench = make_bench(inertia=Inertia(inertia=inertia))
    bench.registers(position=position, velocity=velocity)
    bench.enable()
    bench.robot.plant.set_state(0, start, speed)
    kp = 0.7 * 0.1063 * velocity * 0.01943 * position

    def energy() -> float:
        return 0.5 * inertia * bench.speed**2 + 0.5 * kp * bench.angle**2

    at_start = energy()
    for _ in range(40):
        bench.robot.step(10)
        assert energy() <= at_start * 1.01 + 1e-5  # 1e-5 J: one count, one tick late
    assert bench.read(0x6041) == 5687


def test_ten_identical_joints_move_alike():
    robot = build_robot(flywheels(1) * 10)
    for joint, drive in enumerate(robot.drives):
        robot.plant.set_external_torque(joint, 1.0)
        drive.al_state_changed(AlState.OP)
        for word in (0x06, 0x07, 0x0F):
            drive.controlword = word
    robot.step(200)
    assert len(set(robot.plant.position)) == 1
    assert robot.plant.position[0] > 0


def test_drive_is_stepped_at_its_own_rate_only(bench):
    with pytest.raises(ValueError, match=r"0\.001"):
        bench.drive.step(0.002)


@pytest.mark.parametrize(
    "wrong", [{"efficiency": 1.2}, {"gear": 0.0}, {"history_length": 0}, {"gain_bytes": 3}], ids=str
)
def test_invalid_drive_is_refused(wrong):
    with pytest.raises(ConfigError, match="drive parameters"):
        DriveParameters(**wrong)


def test_invalid_mounting_is_refused():
    with pytest.raises(ConfigError, match="direction 0"):
        Mounting(direction=0)


def test_factory_gains_are_parameters(make_bench):
    bench = make_bench(drive=DriveParameters(factory=LoopGains(11, 22, 33)))
    assert [bench.read(0x2382, 1), bench.read(0x2381, 1), bench.read(0x2381, 2)] == [11, 22, 33]
