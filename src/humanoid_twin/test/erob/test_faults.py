import pytest

from humanoid_twin.erob.parameters import DriveParameters
from humanoid_twin.ethercat.coe.dictionary import SdoAbort
from humanoid_twin.ethercat.firmware import AlState
from humanoid_twin.physics.plant import Inertia


def history(bench) -> list[int]:
    return [bench.read(0x1003, entry) for entry in range(1, bench.read(0x1003) + 1)]


def leave_position(bench) -> None:
    bench.registers(position=0, velocity=0)  # limp: only the position error grows
    bench.robot.plant.set_state(0, 2.6, 0.0)
    bench.robot.step()


def leave_velocity(bench) -> None:
    bench.registers(position=0, velocity=0)
    bench.robot.plant.set_state(0, 0.0, 41.0)
    bench.robot.step()


CAUSES = {
    0x8500: leave_position,
    0x8400: leave_velocity,
    0xA000: lambda bench: bench.drive.communication_fault("SYNC0 without a new frame"),
    0x8130: lambda bench: bench.drive.raise_error(0x8130),
}


@pytest.mark.parametrize("code", CAUSES, ids=hex)
def test_error_shows_4616_its_code_and_history_and_cuts_the_torque(bench, code):
    bench.enable()
    CAUSES[code](bench)
    assert bench.read(0x6041) == 4616
    assert bench.read(0x603F) == code
    assert history(bench) == [code]
    assert bench.read(0x6077) == 0


@pytest.mark.parametrize(
    ("code", "register"), [(0xA000, 0x11), (0x8130, 0x11), (0x8500, 0x21), (0x8400, 0x21)], ids=hex
)
def test_error_register_has_the_family(bench, code, register):
    bench.drive.raise_error(code)
    assert bench.read(0x1001) == register


@pytest.mark.parametrize("gap", [2.4, 2.6], ids=["within", "beyond"])
def test_position_error_limit_is_where_its_parameter_puts_it(bench, gap):
    bench.enable()
    bench.registers(position=0, velocity=0)
    bench.robot.plant.set_state(0, gap, 0.0)
    bench.robot.step()
    assert (bench.read(0x603F) == 0x8500) == (gap > 2.5)


def test_target_far_from_the_joint_is_an_error_before_it_is_a_blow(make_bench):
    bench = make_bench(position=3.0)
    bench.registers(position=515, velocity=19)
    bench.enable()
    bench.latch(0x0F, 0)  # as from a master that has not read the position
    bench.robot.step(100)
    assert bench.read(0x603F) == 0x8500
    assert bench.speed < 10.0


def test_outputs_lost_is_a_communication_error_even_before_operation_is_enabled(bench):
    bench.drive.al_state_changed(AlState.OP)
    bench.drive.outputs_lost()
    bench.drive.al_state_changed(AlState.SAFEOP)
    assert (bench.read(0x6041), bench.read(0x603F)) == (4616, 0xA000)


def test_fault_reset_brings_592_and_keeps_the_history(bench):
    bench.enable()
    bench.drive.raise_error(0x8500)
    bench.latch(0x80)
    assert (bench.read(0x6041), bench.read(0x603F), bench.read(0x1001)) == (592, 0, 0)
    assert history(bench) == [0x8500]
    bench.enable()


def test_fault_reset_needs_a_rising_edge(bench):
    bench.enable()
    bench.latch(0x80)
    bench.drive.raise_error(0x8500)
    bench.latch(0x80)  # bit 7 was high before
    assert bench.read(0x6041) == 4616
    bench.latch(0x00)
    bench.latch(0x8F)
    assert bench.read(0x6041) == 592


@pytest.mark.parametrize("word", [0x00, 0x06, 0x07, 0x0F])
def test_no_other_controlword_leaves_the_fault(bench, word):
    bench.enable()
    bench.drive.raise_error(0xA000)
    bench.latch(word)
    assert bench.read(0x6041) == 4616


def test_communication_error_is_reset_only_where_process_data_flow(bench):
    bench.drive.al_state_changed(AlState.SAFEOP)
    bench.drive.communication_fault("mailbox during the DC activation")
    for word in (0x80, 0x00):
        bench.latch(word)
    assert bench.read(0x6041) == 4616
    bench.drive.al_state_changed(AlState.OP)
    bench.latch(0x80)
    assert bench.read(0x6041) == 592


def test_fault_survives_the_way_down_to_init(bench):
    bench.enable()
    bench.drive.communication_fault("test")
    bench.drive.al_state_changed(AlState.INIT)
    assert (bench.read(0x6041), bench.read(0x603F)) == (4616, 0xA000)


def test_second_error_does_not_hide_the_first(bench):
    bench.drive.raise_error(0xA000)
    bench.drive.raise_error(0x8500)
    assert bench.read(0x603F) == 0xA000
    assert history(bench) == [0xA000]


def test_history_is_newest_first_and_bounded(make_bench):
    bench = make_bench(drive=DriveParameters(history_length=3))
    for code in (0x8130, 0x8400, 0x8500, 0x8400):
        bench.drive.raise_error(code)
        bench.latch(0x80)
        bench.latch(0x00)
    assert history(bench) == [0x8400, 0x8500, 0x8400]
    with pytest.raises(SdoAbort, match="subindex"):
        bench.read(0x1003, 4)


def test_history_is_cleared_by_writing_0_only(bench):
    bench.drive.raise_error(0x8130)
    with pytest.raises(SdoAbort):
        bench.write(0x1003, 0, 1, size=1)
    assert history(bench) == [0x8130]
    bench.write(0x1003, 0, 0, size=1)
    assert history(bench) == []


def test_power_cycle_ends_a_fault_and_keeps_the_stored_history(bench):
    bench.enable()
    bench.drive.raise_error(0xA000)
    bench.drive.power_cycle()
    assert (bench.read(0x6041), bench.read(0x603F)) == (592, 0)
    assert history(bench) == [0xA000]


def test_power_cycle_while_enabled_drops_the_joint(make_bench):
    bench = make_bench(inertia=Inertia(inertia=0.3, gravity=6.0), position=0.6)
    bench.enable()
    bench.robot.step(100)
    assert bench.angle == pytest.approx(0.6, abs=0.02)
    bench.drive.power_cycle()
    bench.robot.step(300)
    assert bench.angle < 0.3
    assert bench.read(0x6041) == 592


def test_the_error_of_an_empty_battery_is_reset_only_after_a_new_one(bench):
    bench.enable()
    bench.drive.change_battery()
    bench.drive.raise_error(0x730F)  # the new battery is empty, too
    for word in (0x80, 0x00):
        bench.latch(word)
    assert bench.read(0x603F) == 0x730F
    bench.drive.change_battery()
    assert bench.read(0x603F) == 0x730F, "until it is reset"
    bench.latch(0x80)
    assert (bench.read(0x6041), bench.read(0x603F)) == (592, 0)


def test_an_encoder_with_a_weak_battery_loses_its_turns_at_the_next_power_up(bench):
    turn = 524288  # [counts] 19 bit at the output
    bench.robot.plant.set_state(0, bench.angle - 1.0, 0.0)
    bench.robot.step()
    below = bench.read(0x6064, signed=True)
    assert -turn < below < 0
    bench.drive.power_cycle()
    bench.robot.step()
    assert bench.read(0x6064, signed=True) == below
    bench.drive.weaken_battery()
    bench.robot.step()
    assert bench.read(0x6064, signed=True) == below
    bench.drive.power_cycle()
    bench.robot.step()
    assert bench.read(0x6064, signed=True) == below + turn
