"""0x2382:03, the velocity feed-forward: the effect of a moving target in DAMPING."""

import math

import pytest

from humanoid_twin.erob.parameters import DriveParameters, ObjectAccess
from humanoid_twin.ethercat.coe.dictionary import SdoAbort
from humanoid_twin.physics.plant import Inertia

ARM = Inertia(inertia=0.30, viscous=0.15, coulomb=0.10, gravity=6.0)
LEVEL = math.pi / 2  # [rad] at the begin of the fall
PERIOD = 20  # [ms] of the master


def fall(bench, *, feed_forward: int, follow: bool, velocity: int = 56) -> float:
    """Return the highest speed [rad/s] of an arm that falls from level; DAMPING has 56."""
    bench.robot.plant.set_state(0, LEVEL, 0.0)
    bench.enable()
    bench.registers(position=0, velocity=velocity)
    bench.write(0x2382, 3, feed_forward)
    start, fastest = bench.read(0x6064, signed=True), 0.0
    measured = [start]
    for _ in range(200):
        measured.append(bench.read(0x6064, signed=True))
        bench.latch(0x0F, measured[-2] if follow else start)  # of the exchange before
        for _ in range(PERIOD):
            bench.robot.step()
            fastest = max(fastest, abs(bench.speed))
    assert bench.read(0x603F) == 0
    return fastest


@pytest.mark.parametrize(
    ("feed_forward", "follow", "fastest"),
    [(0, True, 1.31), (0x4000, True, 4.57), (0x4000, False, 1.31)],
    ids=["none", "target that follows", "target that stands still"],
)
def test_target_that_follows_feeds_the_damper(make_bench, feed_forward, follow, fastest):
    found = fall(make_bench(inertia=ARM), feed_forward=feed_forward, follow=follow)
    assert found == pytest.approx(fastest, rel=0.01)


def test_drive_without_the_term_damps_whatever_the_target_does(make_bench):
    bench = make_bench(inertia=ARM, drive=DriveParameters(feed_forward=ObjectAccess.ABSENT))
    with pytest.raises(SdoAbort, match="subindex does not exist"):
        bench.read(0x2382, 3)
    bench.robot.plant.set_state(0, LEVEL, 0.0)
    bench.enable()
    for register, value in (((0x2382, 1), 0), ((0x2381, 2), 0), ((0x2381, 1), 56)):
        bench.write(*register, value)
    bench.write(0x2383, 0, 1)
    bench.follow(1000)
    assert abs(bench.speed) < 1.32


def test_register_acts_behind_an_open_gate_only(make_bench):
    bench = make_bench()
    bench.write(0x2382, 3, 0)
    assert bench.read(0x2382, 3) == 0
    assert bench.drive.gains.active.feed_forward == 0x4000
    bench.write(0x2383, 0, 1)
    assert bench.drive.gains.active.feed_forward == 0


def test_drive_may_refuse_to_change_it(make_bench):
    bench = make_bench(drive=DriveParameters(feed_forward=ObjectAccess.READ_ONLY))
    with pytest.raises(SdoAbort, match="read only"):
        bench.write(0x2382, 3, 0)
    assert bench.read(0x2382, 3) == 0x4000


def test_drive_may_keep_it_silently(make_bench):
    bench = make_bench(drive=DriveParameters(feed_forward=ObjectAccess.KEPT))
    bench.write(0x2383, 0, 1)
    bench.write(0x2382, 3, 0)
    assert bench.read(0x2382, 3) == 0x4000
    assert bench.drive.gains.active.feed_forward == 0x4000


@pytest.mark.parametrize(("size", "largest"), [(4, 2**31 - 1), (2, 2**16 - 1)])
def test_gains_and_gate_are_as_long_as_the_drive_has_them(make_bench, size, largest):
    bench = make_bench(drive=DriveParameters(gain_bytes=size))
    for key in ((0x2381, 1), (0x2381, 2), (0x2382, 1), (0x2382, 3), (0x2383, 0)):
        assert len(bench.drive.dictionary.read(*key)) == size
        with pytest.raises(SdoAbort, match=r"longer|shorter"):
            bench.write(*key, 1, size=6 - size)
    bench.write(0x2382, 1, largest, size=size)
    assert bench.read(0x2382, 1) == largest
