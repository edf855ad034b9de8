import pytest

from humanoid_twin.erob.control_loops import CspInterpolator


def test_target_is_reached_in_a_straight_line_over_one_sync0_period():
    demand = CspInterpolator(longest=0.1)
    for target in (0, 0, 2000):
        demand.aim(target)
        values = [demand.tick() for _ in range(20)]
    assert values == pytest.approx([100.0 * tick for tick in range(1, 21)])


def test_repeated_target_holds_the_demand():
    demand = CspInterpolator(longest=0.1)
    demand.aim(500)
    for _ in range(200):
        demand.tick()
    demand.aim(500)
    assert [demand.tick() for _ in range(20)] == [500.0] * 20


def test_late_frame_makes_no_jump():
    demand = CspInterpolator(longest=0.1)
    steps = []
    for lateness in (0, 0, 0, 3, -3, 0):
        demand.aim(100 * len(steps))
        for _ in range(20 + lateness):
            before = demand.value
            steps.append(demand.tick() - before)
    assert max(steps) - min(steps) < 150.0  # 100 counts per tick demanded; a jump is 2000


def test_hold_clears_the_target():
    demand = CspInterpolator(longest=0.1)
    demand.aim(1000)
    demand.hold(7.0)
    assert [demand.tick() for _ in range(3)] == [7.0] * 3


def test_target_is_reached_after_the_time_that_is_set():
    demand = CspInterpolator(longest=0.1)
    for target in (0, 0):
        demand.aim(target, 5)
        for _ in range(20):
            demand.tick()
    demand.aim(1000, 5)
    assert [demand.tick() for _ in range(7)] == [200.0, 400.0, 600.0, 800.0, 1000.0, 1000.0, 1000.0]
