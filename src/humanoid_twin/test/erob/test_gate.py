import pytest

from humanoid_twin.erob.parameters import DriveParameters, LoopGains
from humanoid_twin.ethercat.coe.dictionary import SdoAbort

GAINS = [(0x2382, 1), (0x2381, 1), (0x2381, 2)]


def push(bench) -> list[float]:
    """Return angles of the enabled drive under a load."""
    bench.enable()
    bench.robot.plant.set_external_torque(0, 4.0)
    angles = []
    for _ in range(300):
        bench.robot.step()
        angles.append(bench.angle)
    return angles


def test_written_gains_change_nothing_while_the_gate_is_closed(make_bench):
    untouched, written = make_bench(), make_bench()
    written.registers(position=515, velocity=19, gate=0)
    assert push(written) == push(untouched)


def test_written_gains_act_from_the_opening_of_the_gate_on(make_bench):
    bench = make_bench()
    bench.registers(position=515, velocity=19, gate=0)
    stiff = push(bench)[-1]
    bench.write(0x2383, 0, 1)
    bench.robot.step(4000)
    assert stiff < 0.02
    assert bench.angle == pytest.approx(4.0 / 14.147, rel=0.02)


def test_closing_the_gate_brings_the_factory_gains_back(make_bench):
    bench = make_bench()
    bench.registers(position=515, velocity=19)
    push(bench)
    bench.write(0x2383, 0, 0)
    bench.robot.step(3000)
    assert abs(bench.angle) < 0.001


@pytest.mark.parametrize(("stores", "expected"), [(True, 515), (False, 1000)])
def test_whether_a_closed_gate_stores_gains_is_a_parameter(make_bench, stores, expected):
    bench = make_bench(
        drive=DriveParameters(
            stores_gains_behind_closed_gate=stores, factory=LoopGains(1000, 270, 20)
        )
    )
    bench.write(0x2382, 1, 515)
    assert bench.read(0x2382, 1) == expected
    bench.write(0x2383, 0, 1)
    bench.write(0x2382, 1, 515)
    assert bench.read(0x2382, 1) == 515


def test_registers_and_gate_read_back_what_was_written(bench):
    for value, (index, subindex) in enumerate(GAINS, start=7):
        bench.write(index, subindex, value)
    bench.write(0x2383, 0, 1)
    assert [bench.read(*where) for where in [*GAINS, (0x2383, 0)]] == [7, 8, 9, 1]


def test_power_cycle_closes_the_gate_and_brings_the_factory_registers_back(bench):
    fresh = [bench.read(*where) for where in GAINS]
    bench.registers(position=1, velocity=2, integral=3)
    bench.drive.power_cycle()
    assert bench.read(0x2383) == 0
    assert [bench.read(*where) for where in GAINS] == fresh


@pytest.mark.parametrize("value", [2, -1])
def test_gate_takes_nothing_but_0_and_1(bench, value):
    with pytest.raises(SdoAbort, match="out of range"):
        bench.write(0x2383, 0, value)
    assert bench.read(0x2383) == 0


@pytest.mark.parametrize(("index", "subindex"), GAINS)
def test_negative_gain_is_refused(bench, index, subindex):
    before = bench.read(index, subindex)
    with pytest.raises(SdoAbort, match="too low"):
        bench.write(index, subindex, -5)
    assert bench.read(index, subindex) == before
