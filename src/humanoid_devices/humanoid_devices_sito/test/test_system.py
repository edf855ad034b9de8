"""Sito motors on a virtual bus, driven through the contract of a hardware component."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from humanoid_control_common.errors import ConfigError, HardwareError
from humanoid_control_common.rules.safety import SafetyFlag, SafetyLevel
from humanoid_devices_can.timing import Timing
from humanoid_devices_sito.codec import Gains, MessageType, identifier
from humanoid_devices_sito.sito_system import SitoSystem
from src.humanoid_devices.test.can_bench import CanBench, CanRig, MakeBench, MakeInfo, MakeRig

IDS = [22, 23, 38, 39]
COUNT = 2 * math.pi / 65536  # [rad]
# Short waits for absent motors.
QUICK = Timing(enable_timeout=0.4, enable_retry=0.15, disable_timeout=0.5)


@pytest.fixture
def wrists(
    can_bench: MakeBench, can_info: MakeInfo, can_rig: MakeRig
) -> Callable[..., tuple[CanBench, CanRig]]:
    """The four wrists on a virtual bus, not yet activated: (bench, rig)."""

    def make(timing: Timing = QUICK, **info: Any) -> tuple[CanBench, CanRig]:
        bench = can_bench("sito", "TA40-50", IDS)
        block = can_info(IDS, "TA40-50", channel=bench.address, **info)
        return bench, can_rig(SitoSystem(timing, bench.host), block, bench.time)

    return make


def healthy(report) -> bool:
    return report.level is SafetyLevel.OK


def test_a_rate_for_which_the_feedback_leaves_no_room_is_refused(wrists) -> None:
    """Four commands of 131 bits, and 2000 frames a second of 67 bits or more: 1653 times."""
    wrists(update_rate=1650.0)
    text = r"4 motors, beside 134000 bit/s of their feedback, 1653 times .* 1660 Hz: lower it"
    with pytest.raises(ConfigError, match=text):
        wrists(update_rate=1660.0)


def test_activation_enables_all_motors_without_torque(wrists) -> None:
    bench, rig = wrists()
    rig.activate()
    for id_ in IDS:
        drive = bench.drive(id_)
        assert drive["firmware"]["enabled"]
        assert drive["firmware"]["stiffness"] == drive["firmware"]["damping"] == 0.0
        assert drive["torque"] == 0.0
    assert np.isfinite(rig.state.array).all()
    assert healthy(rig.system.safety())


def test_five_numbers_give_the_torque_of_the_mit_law_at_the_joint(wrists) -> None:
    bench, rig = wrists()
    bench.plant.set_brake(0, engaged=True)  # so that position and velocity are known: 0
    rig.activate()
    rig.command.position[0], rig.command.velocity[0] = 0.1, 0.2
    rig.command.effort[0], rig.command.stiffness[0], rig.command.damping[0] = 0.3, 20.0, 2.0
    expected = 20.0 * 0.1 + 2.0 * 0.2 + 0.3
    # Half a count of position and of velocity, half a milliampere of current.
    quantization = 0.5 * (20.0 * COUNT + 2.0 * COUNT + 9e-5 * 51)
    rig.until(lambda _: bench.drive(22)["torque"] == pytest.approx(expected, abs=quantization))
    rig.until(lambda _: rig.state.effort[0] == pytest.approx(expected, abs=9e-5 * 51))


@pytest.mark.parametrize(
    ("divisors", "stiffness", "damping"),
    [({}, 1.0, 1.0), ({"stiffness_divisor": "500", "damping_divisor": "0.5"}, 1.38, 2.25)],
    ids=["measured", "first calibration"],
)
def test_realized_gains_follow_the_divisors(wrists, divisors, stiffness, damping) -> None:
    bench, rig = wrists(joint=divisors)
    rig.activate()
    rig.command.stiffness[:], rig.command.damping[:] = 20.0, 2.0
    rig.until(lambda _: bench.drive(39)["firmware"]["damping"] > 0.0)
    firmware = bench.drive(39)["firmware"]
    assert firmware["stiffness"] / 20.0 == pytest.approx(stiffness, rel=0.01)
    assert firmware["damping"] / 2.0 == pytest.approx(damping, rel=0.01)


@pytest.mark.parametrize(("stiffness", "damping"), [(0.0, 0.0), (0.0, 6.0), (20.0, 2.0)])
def test_gains_of_every_mode_are_realized(wrists, stiffness, damping) -> None:
    bench, rig = wrists()
    rig.activate()
    rig.command.stiffness[:], rig.command.damping[:] = 5.0, 0.5
    rig.until(lambda _: bench.drive(22)["firmware"]["damping"] == pytest.approx(0.5, rel=0.01))
    rig.command.stiffness[:], rig.command.damping[:] = stiffness, damping
    rig.until(lambda _: bench.drive(22)["firmware"]["damping"] == pytest.approx(damping, rel=0.01))
    assert bench.drive(22)["firmware"]["stiffness"] == pytest.approx(stiffness, rel=0.01)


def test_calibration_is_applied_to_measurement_and_command(wrists) -> None:
    bench, rig = wrists(calibration=[(-1, 0.5), (1, -0.25), (1, 0.0), (1, 0.0)])
    bench.plant.set_state(0, 0.3, 0.0)
    bench.plant.set_brake(0, engaged=True)
    rig.activate()
    assert rig.state.position[0] == pytest.approx(-(0.3 - 0.5), abs=COUNT)
    rig.command.position[:] = 0.1
    for id_, raw in ((22, -0.1 + 0.5), (23, 0.1 - 0.25)):
        expected = pytest.approx(raw, abs=COUNT)
        rig.until(lambda _: bench.drive(id_)["firmware"]["target_position"] == expected)  # noqa: B023


@pytest.mark.parametrize("direction", [1, -1])
def test_direction_is_that_of_velocity_and_effort_as_well(wrists, direction: int) -> None:
    bench, rig = wrists(calibration=[(direction, 0.5), (1, 0.0), (1, 0.0), (1, 0.0)])
    rig.activate()
    rig.command.effort[0] = 0.2
    expected = pytest.approx(direction * 0.2, abs=9e-5 * 51)
    rig.until(lambda _: bench.drive(22)["torque"] == expected)
    rig.run(0.1)
    assert rig.state.effort[0] == pytest.approx(0.2, abs=9e-5 * 51)
    assert rig.state.velocity[0] > 0.5
    assert direction * bench.drive(22)["velocity"] > 0.5


def test_gains_that_a_motor_lost_are_sent_again(wrists) -> None:
    bench, rig = wrists()
    rig.activate()
    rig.command.damping[:] = 6.0
    rig.until(lambda _: bench.drive(23)["firmware"]["damping"] == pytest.approx(6.0))
    bench.call("stray", identifier(23, MessageType.GAINS), Gains(0.5, 0.0).encode().hex())
    rig.until(lambda _: bench.drive(23)["firmware"]["stiffness"] > 0.0)
    rig.until(lambda _: bench.drive(23)["firmware"]["stiffness"] == 0.0)
    assert bench.drive(23)["firmware"]["damping"] == pytest.approx(6.0)


def test_gains_lost_before_the_loop_begins_are_sent_again_and_move_nothing(wrists) -> None:
    bench, rig = wrists()
    bench.plant.set_state(1, 0.7, 0.0)
    rig.activate()
    bench.call("stray", identifier(23, MessageType.GAINS), Gains(0.05, 0.0).encode().hex())
    while bench.drive(23)["firmware"]["stiffness"] == 0.0:
        rig.pause(0.001)
    while bench.drive(23)["firmware"]["stiffness"] > 0.0:  # without ticks
        rig.pause(0.001)
    assert bench.drive(23)["position"] == pytest.approx(0.7, abs=COUNT)


def test_command_faster_than_the_wire_carries_is_saturated_and_reported(wrists) -> None:
    bench, rig = wrists()
    rig.activate()
    rig.command.velocity[1] = -4.0
    report = rig.until(lambda report: "j1: command saturated" in report.message)
    assert report.level is SafetyLevel.WARNING
    rig.until(lambda _: bench.drive(23)["firmware"]["target_velocity"] < 0.0)
    velocity = bench.drive(23)["firmware"]["target_velocity"]
    assert velocity == pytest.approx(-32767 * COUNT)
    assert rig.system.saturations[1] > 0
    assert rig.system.saturations[0] == 0


def test_motor_that_turns_faster_than_its_feedback_can_carry_is_reported(wrists) -> None:
    bench, rig = wrists()
    rig.activate()
    with bench.lock:
        bench.plant.set_state(2, 0.0, 3.16)
        bench.plant.set_external_torque(2, 0.01 * 3.16)  # against its friction
    report = rig.until(lambda report: "at or above the feedback range" in report.message)
    assert report.level is SafetyLevel.WARNING


def test_motor_that_takes_long_to_enable_is_waited_for(wrists) -> None:
    bench, rig = wrists(timing=Timing())
    bench.call("delay_enable", 38, 1.0)
    rig.activate()
    assert bench.drive(38)["firmware"]["enabled"]


def test_silent_motor_is_named_and_the_others_are_left_disabled(wrists) -> None:
    bench, rig = wrists()
    bench.call("power_off", 39)
    with pytest.raises(HardwareError, match=r"j3 \(id 39\): no answer within 0.4 s on virtual"):
        rig.activate()
    assert not any(drive["firmware"]["enabled"] for drive in bench.call("drives"))


def test_motors_without_power_are_suspected_without_acknowledgement(wrists) -> None:
    bench, rig = wrists()
    bench.call("power_off")
    with pytest.raises(HardwareError, match=r"no node acknowledges.*are the motors powered"):
        rig.activate()


def test_wrong_bitrate_is_suspected_when_no_frame_gets_through(wrists) -> None:
    bench, rig = wrists()
    bench.call("bitrate", 500_000)
    with pytest.raises(HardwareError, match=r"1000000 bit/s the(ir| motors') bitrate"):
        rig.activate()


def test_motor_with_another_id_is_missed(wrists) -> None:
    bench, rig = wrists()
    bench.call("change_id", 22, 24)
    with pytest.raises(HardwareError, match=r"j0 \(id 22\): no answer.*powered\? id\? bitrate\?"):
        rig.activate()


def test_motor_that_loses_power_is_reported_and_comes_back_on_reset(wrists) -> None:
    bench, rig = wrists()
    rig.activate()
    rig.command.damping[:] = 6.0
    bench.call("power_off", 38)
    report = rig.until(lambda report: report.flags & SafetyFlag.RX_TIMEOUT)
    assert report.level is SafetyLevel.FAULT
    assert "j2 (id 38): silent" in report.message
    assert "j1" not in report.message
    bench.call("power_on", 38)
    rig.system.reset_faults()
    rig.until(healthy)
    rig.until(lambda _: bench.drive(38)["firmware"]["damping"] == pytest.approx(6.0))
    assert bench.drive(38)["firmware"]["stiffness"] == 0.0


def test_reset_that_fails_gives_the_reason_and_can_be_repeated(wrists) -> None:
    bench, rig = wrists()
    rig.activate()
    bench.call("power_off", 22)
    rig.until(lambda report: report.flags & SafetyFlag.RX_TIMEOUT)
    rig.system.reset_faults()
    rig.until(lambda report: "not enabled again: j0 (id 22): no answer" in report.message)
    bench.call("power_on", 22)
    rig.system.reset_faults()
    rig.until(healthy)


def test_state_of_a_silent_motor_stays(wrists) -> None:
    bench, rig = wrists()
    bench.plant.set_state(3, 0.7, 0.0)
    rig.activate()
    rig.tick()
    assert rig.system.sample_age < 0.2
    bench.call("freeze", 39)
    rig.until(lambda report: report.flags & SafetyFlag.RX_TIMEOUT)
    assert rig.state.position[3] == pytest.approx(0.7, abs=COUNT)
    assert rig.system.sample_age > 0.2


def test_bus_off_is_sticky_until_reset(wrists) -> None:
    bench, rig = wrists()
    rig.activate()
    bench.call("bus_off")
    report = rig.until(lambda report: report.flags & SafetyFlag.BUS_OFF)
    assert report.level is SafetyLevel.FAULT
    frames = bench.call("statistics")["frames"]
    rig.until(lambda _: bench.call("statistics")["frames"] > frames + 50)  # it has recovered
    assert rig.tick().flags & SafetyFlag.BUS_OFF
    rig.system.reset_faults()
    rig.until(healthy)


def test_unplugged_adapter_is_a_fault_and_plugged_in_again_it_works(wrists) -> None:
    bench, rig = wrists()
    rig.activate()
    bench.call("unplug")
    report = rig.until(lambda report: report.flags & SafetyFlag.BUS_OFF)
    assert report.level is SafetyLevel.FAULT
    assert "plug it in" in report.message
    position = rig.state.position.copy()
    rig.system.reset_faults()
    rig.until(lambda report: "not enabled again" in report.message)
    np.testing.assert_array_equal(rig.state.position, position)
    bench.call("plug_in")
    before = rig.system.sample_age
    rig.system.reset_faults()
    ages = []
    rig.until(lambda report: ages.append(rig.system.sample_age) or healthy(report))
    assert np.isfinite(ages).all()  # although a bus that was opened again has received no frame yet
    assert max(ages) > before > 0.0
    assert ages[-1] < 0.2


def test_frame_of_another_family_is_reported_as_invalid(wrists) -> None:
    bench, rig = wrists()
    rig.activate()
    bench.call("stray", 0x028005FD, bytes(8).hex())
    report = rig.until(lambda report: report.flags & SafetyFlag.INVALID_FRAME)
    assert report.level is SafetyLevel.WARNING
    assert "0x028005FD is not of a Sito motor" in report.message


def test_frame_of_an_unknown_motor_is_reported_with_its_id(wrists) -> None:
    bench, rig = wrists()
    rig.activate()
    bench.call("stray", identifier(24, MessageType.FEEDBACK_1), bytes(8).hex())
    report = rig.until(lambda report: report.flags & SafetyFlag.INVALID_FRAME)
    assert "id 24 is no motor of this block" in report.message


def test_malformed_feedback_is_reported_and_not_used(wrists) -> None:
    bench, rig = wrists()
    rig.activate()
    bench.call("stray", identifier(22, MessageType.FEEDBACK_2), "7f7f")
    report = rig.until(lambda report: report.flags & SafetyFlag.INVALID_FRAME)
    assert "FEEDBACK_2 has 8 bytes, not 2" in report.message
    assert rig.state.position[0] == pytest.approx(0.0, abs=COUNT)


@pytest.mark.parametrize("intervals", ["0a00", "000a"], ids=["no position", "no velocity"])
def test_motor_with_one_of_two_feedback_frames_is_a_fault_until_reset(wrists, intervals) -> None:
    bench, rig = wrists()
    rig.activate()
    rig.until(healthy)
    bench.call("stray", identifier(23, MessageType.SELECT_MODE), f"09{intervals}0000000000")
    report = rig.until(lambda report: report.flags & SafetyFlag.RX_TIMEOUT)
    assert report.level is SafetyLevel.FAULT
    assert "j1 (id 23): sends frames, but not both position and velocity" in report.message
    assert "j0" not in report.message
    rig.system.reset_faults()
    rig.until(healthy)
    bench.plant.set_state(1, 0.4, 0.0)
    rig.until(lambda _: rig.state.position[1] == pytest.approx(0.4, abs=COUNT))


def test_motor_with_one_of_two_feedback_frames_is_disabled_with_confirmation(wrists) -> None:
    bench, rig = wrists()
    rig.activate()
    bench.call("stray", identifier(23, MessageType.SELECT_MODE), "090a000000000000")
    rig.until(lambda report: report.flags & SafetyFlag.RX_TIMEOUT)
    rig.deactivate()
    assert not bench.drive(23)["firmware"]["enabled"]


def test_second_motor_with_the_same_id_is_detected(wrists) -> None:
    bench, rig = wrists()
    rig.activate()
    bench.call("duplicate", 22)
    # Enabled by a host that does not have this setting: both motors answer every frame.
    bench.call("stray", identifier(22, MessageType.SELECT_MODE), "09140a0000000000")
    rig.until(lambda report: "two motors" in report.message)


def test_deactivation_disables_all_motors(wrists) -> None:
    bench, rig = wrists()
    rig.activate()
    rig.command.stiffness[:] = 20.0
    rig.until(lambda _: bench.drive(22)["firmware"]["stiffness"] > 0.0)
    rig.deactivate()
    assert not any(drive["firmware"]["enabled"] for drive in bench.call("drives"))


def test_deactivation_names_a_motor_that_can_not_confirm(wrists) -> None:
    bench, rig = wrists()
    rig.activate()
    bench.call("freeze", 23)
    rig.until(lambda report: report.flags & SafetyFlag.RX_TIMEOUT)
    with pytest.raises(HardwareError, match=r"not confirmed.*j1 \(id 23\): was silent before") as e:
        rig.deactivate()
    assert "id 22" not in str(e.value)
    assert [d["id"] for d in bench.call("drives") if d["firmware"]["enabled"]] == [23]


def test_deactivation_without_adapter_names_all_joints(wrists) -> None:
    bench, rig = wrists()
    rig.activate()
    bench.call("unplug")
    rig.until(lambda report: report.flags & SafetyFlag.BUS_OFF)
    with pytest.raises(HardwareError, match=r"not disabled: j0 \(id 22\), .* j3 \(id 39\)"):
        rig.deactivate()


def test_component_can_be_activated_again(wrists) -> None:
    bench, rig = wrists()
    for _ in range(2):
        rig.activate()
        rig.until(healthy)
        rig.deactivate()
    assert not bench.drive(22)["firmware"]["enabled"]
