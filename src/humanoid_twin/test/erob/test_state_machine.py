"""The CiA 402 state machine, against a table of its own (CiA 402-2, transitions 2 to 16)."""

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from humanoid_twin.erob.parameters import DriveParameters, ObjectAccess
from humanoid_twin.ethercat.firmware import AlState
from humanoid_twin.physics.plant import Inertia

DISABLED, READY, SWITCHED_ON, ENABLED, QUICK_STOP, FAULT = 592, 561, 563, 5687, 535, 4616

# (from, to): bits of the controlword that count, and what they must be.
LEGAL = {
    (DISABLED, READY): [(0x87, 0x06)],  # 2
    (READY, SWITCHED_ON): [(0x87, 0x07)],  # 3
    (SWITCHED_ON, ENABLED): [(0x8F, 0x0F)],  # 4
    (ENABLED, SWITCHED_ON): [(0x8F, 0x07)],  # 5
    (SWITCHED_ON, READY): [(0x87, 0x06)],  # 6
    (READY, DISABLED): [(0x82, 0x00), (0x86, 0x02)],  # 7
    (ENABLED, READY): [(0x87, 0x06)],  # 8
    (ENABLED, DISABLED): [(0x82, 0x00)],  # 9
    (SWITCHED_ON, DISABLED): [(0x82, 0x00), (0x86, 0x02)],  # 10
    (ENABLED, QUICK_STOP): [(0x86, 0x02)],  # 11
    (QUICK_STOP, DISABLED): [(0x82, 0x00)],  # 12
    (FAULT, DISABLED): [(0x80, 0x80)],  # 15
}


def in_op(bench):
    bench.drive.al_state_changed(AlState.OP)
    return bench


def test_start_goes_through_the_statuswords_of_the_trace(make_bench):
    bench = in_op(make_bench())
    words = [bench.read(0x6041)]
    for controlword in (0x06, 0x07, 0x0F):
        bench.latch(controlword)
        bench.robot.step()
        words.append(bench.read(0x6041))
    assert words == [592, 561, 563, 5687]


@settings(deadline=None)
@given(
    words=st.lists(st.integers(0, 0xFFFF) | st.sampled_from([0, 2, 6, 7, 15, 0x80]), max_size=40)
)
def test_any_controlwords_make_legal_transitions_only(make_bench, words):
    bench = in_op(make_bench())
    for word in words:
        before = bench.read(0x6041)
        bench.latch(word)
        after = bench.read(0x6041)
        if after == before:
            continue
        assert any(word & mask == bits for mask, bits in LEGAL.get((before, after), []))


@settings(deadline=None)
@given(
    actions=st.lists(
        st.integers(0, 0xFFFF)
        | st.sampled_from([6, 7, 15, 6, 7, 15, 0x80, "fault", "step", AlState.SAFEOP, AlState.OP]),
        max_size=60,
    )
)
def test_torque_is_given_in_operation_enabled_and_quick_stop_only(make_bench, actions):
    bench = in_op(make_bench())
    for action in actions:
        if action == "fault":
            bench.drive.raise_error(0xA000)
        elif isinstance(action, AlState):
            bench.drive.al_state_changed(action)
        elif action == "step":
            bench.robot.step(5)
        else:
            bench.latch(action, 40_000)
        if bench.read(0x6077, signed=True) != 0:
            assert bench.read(0x6041) in (ENABLED, QUICK_STOP)
            assert bench.read(0x6041) != FAULT
    bench.drive.al_state_changed(AlState.OP)
    for word in (0x00, 0x80, 0x00, 0x06, 0x07, 0x0F):  # each state can be left
        bench.latch(word)
    assert bench.read(0x6041) == ENABLED


def test_every_legal_transition_can_be_made(make_bench):
    seen = set()
    for path in ([6, 7, 15, 7, 6, 2], [6, 7, 2], [6, 7, 15, 6, 0], [6, 7, 15, 0], [6, 7, 15, 2, 0]):
        bench = in_op(make_bench())
        for word in path:
            before = bench.read(0x6041)
            bench.latch(word)
            seen.add((before, bench.read(0x6041)))
    assert seen == set(LEGAL) - {(FAULT, DISABLED)}


@pytest.mark.parametrize("walk", [[], [0x06], [0x06, 0x07]], ids=["592", "561", "563"])
def test_no_torque_before_operation_is_enabled(make_bench, walk):
    bench = in_op(make_bench(inertia=Inertia(inertia=0.3, gravity=6.0), position=0.6))
    for word in walk:
        bench.latch(word, 0)
    bench.robot.step(100)
    assert bench.angle < 0.6 - 0.03  # 0.5 · 11.3 rad/s² · 0.01 s²: it falls freely
    assert bench.read(0x6077) == 0


def test_brake_holds_the_joint_until_operation_is_enabled(make_bench):
    bench = make_bench(
        drive=DriveParameters(brake=True),
        inertia=Inertia(inertia=0.3, gravity=6.0),
        position=0.6,
    )
    bench.robot.step(500)
    assert bench.angle == 0.6
    bench.enable()
    bench.registers(position=0, velocity=0)
    bench.robot.step(200)
    assert bench.angle < 0.55
    bench.latch(0x00)
    held = bench.angle
    bench.robot.step(200)
    assert bench.angle == held


def test_brake_that_takes_its_time_holds_until_it_is_over_and_closes_at_once(make_bench):
    bench = make_bench(
        drive=DriveParameters(brake=True, brake_release=0.1),
        inertia=Inertia(inertia=0.3, gravity=6.0),
        position=0.6,
    )
    for _ in range(2):
        held = bench.angle
        bench.enable()
        bench.registers(position=0, velocity=0)
        bench.robot.step(90)
        assert bench.angle == held
        bench.robot.step(100)
        assert bench.angle < held - 0.01
        bench.latch(0x00)
    held = bench.angle
    bench.robot.step(200)
    assert bench.angle == held


def test_operation_is_not_enabled_without_process_data(bench):
    bench.drive.al_state_changed(AlState.PREOP)
    for word in (0x06, 0x07, 0x0F):
        bench.latch(word)
    assert bench.read(0x6041) == SWITCHED_ON


def test_leaving_op_takes_the_torque_away(bench):
    bench.enable()
    bench.registers(position=500, velocity=20)
    bench.latch(0x0F, 5000)
    bench.robot.step(20)
    assert bench.read(0x6077, signed=True) > 0
    bench.drive.al_state_changed(AlState.SAFEOP)
    assert bench.read(0x6077) == 0
    assert (bench.read(0x6041), bench.read(0x603F)) == (4616, 0xA000)
    bench.drive.al_state_changed(AlState.INIT)
    assert bench.read(0x603F) == 0xA000  # until it is reset in OP


@pytest.mark.parametrize("faults", [True, False])
def test_leaving_op_disabled_is_no_error(make_bench, faults):
    bench = make_bench(drive=DriveParameters(faults_when_leaving_op_enabled=faults))
    bench.enable()
    if faults:
        bench.latch(0x06)
    bench.drive.al_state_changed(AlState.SAFEOP)
    assert (bench.read(0x6041), bench.read(0x603F)) == (DISABLED, 0)


def test_quick_stop_brakes_and_then_cuts_the_power(make_bench):
    bench = make_bench()
    bench.enable()
    bench.robot.plant.set_state(0, 0.0, 3.0)
    bench.latch(0x02)
    bench.robot.step(150)
    assert bench.read(0x6041) == QUICK_STOP
    assert abs(bench.speed) < 0.05
    bench.robot.step(60)
    assert bench.read(0x6041) == DISABLED


def test_unknown_mode_is_not_shown(bench):
    bench.write(0x6060, 0, 1, size=1)
    assert bench.read(0x6061) == 8


def test_mode_that_is_kept_is_shown_until_power_comes_back(bench):
    bench.drive.keep_mode(3)
    bench.write(0x6060, 0, 8, size=1)
    assert bench.read(0x6061) == 3
    bench.drive.power_cycle()
    assert bench.read(0x6061) == 8


def test_drive_shows_its_first_mode_until_another_is_written(make_bench):
    bench = make_bench(drive=DriveParameters(first_mode=0))
    assert bench.read(0x6061) == 0
    bench.write(0x6060, 0, 8, size=1)
    assert bench.read(0x6061) == 8


def test_interpolation_period_sets_how_soon_a_target_is_reached(make_bench):
    drive = DriveParameters(interpolation=ObjectAccess.WRITABLE)
    bench = make_bench(drive=drive)
    assert (bench.read(0x60C2, 1), bench.read(0x60C2, 2, signed=True)) == (1, -3)
    bench.write(0x60C2, 1, 20, size=1)
    bench.enable()
    bench.registers(position=0, velocity=0)
    for _ in range(2):
        bench.robot.step(20)
        bench.latch(0x0F, 0)
    bench.latch(0x0F, 2000)
    bench.robot.step(10)
    assert bench.drive._interpolator.value == pytest.approx(1000.0)
    bench.robot.step(10)
    assert bench.drive._interpolator.value == pytest.approx(2000.0)
