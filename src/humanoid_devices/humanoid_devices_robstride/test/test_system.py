"""Robstride motors on a virtual bus, driven through the contract of a hardware component."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from humanoid_control_common.errors import ConfigError, HardwareError
from humanoid_control_common.rules.safety import SafetyFlag, SafetyLevel
from humanoid_devices_can.session import bus_lifecycle
from humanoid_devices_can.timing import Timing
from humanoid_devices_robstride.codec import (
    CommunicationType,
    Fault,
    ParameterId,
    Status,
    StatusFault,
    WriteParameter,
    active_report,
    identifier,
    pack_value,
)
from humanoid_devices_robstride.robstride_system import RobstrideSystem
from src.humanoid_devices.test.can_bench import CanBench, CanRig, MakeBench, MakeInfo, MakeRig

IDS = [5, 6]
QUICK = Timing(enable_timeout=0.4, enable_retry=0.15, disable_timeout=0.3, prepare_timeout=0.3)


@pytest.fixture
def motors(
    can_bench: MakeBench, can_info: MakeInfo, can_rig: MakeRig
) -> Callable[..., tuple[CanBench, CanRig]]:
    """Two motors on a virtual bus, not yet activated, without their time-out: (bench, rig)."""

    def make(
        model: str = "rs-02",
        timing: Timing = QUICK,
        joint: Mapping[str, str | None] | None = None,
        **info: Any,
    ) -> tuple[CanBench, CanRig]:
        bench = can_bench("robstride", model, IDS)
        given: dict[str, str | None] = {"can_timeout": "0", **(joint or {})}
        block = can_info(IDS, model, channel=bench.address, joint=given, **info)
        return bench, can_rig(RobstrideSystem(timing, bench.host), block, bench.time)

    return make


@pytest.mark.parametrize(
    ("angle", "refused"), [(math.tau, False), (-math.tau, False), (3.0, True), (12.0, True)]
)
def test_a_joint_is_refused_unless_whole_turns_bring_it_into_a_range_that_its_motor_can_tell(
    motors, angle: float, refused: bool
) -> None:
    """Two turns away, a part of the range is beyond the 4 pi of a frame."""
    bench, rig = motors(calibration=[(1, 0.0), (-1, 0.1)])
    rig.pause(0.01)  # awake
    bench.plant.set_state(1, angle, 0.0)
    if not refused:
        rig.activate()
        assert rig.state.position[1] == pytest.approx(0.1, abs=1e-3)
        return
    with pytest.raises(HardwareError, match=r"j1 \(id 6\): measured at") as raised:
        rig.activate()
    assert "JOINT_MISPLACED" in raised.value.reason.codes
    assert not any(bench.drive(id_)["firmware"]["enabled"] for id_ in IDS)


def healthy(report) -> bool:
    return report.level is SafetyLevel.OK


def test_a_rate_that_the_bus_cannot_carry_is_refused(motors) -> None:
    """Two commands of 131 bits, two answers of 67 bits or more: 2525 times a second."""
    motors(update_rate=2500.0)
    with pytest.raises(ConfigError, match=r"room for .* 2 motors 2525 times .* 2600 Hz: lower it"):
        motors(update_rate=2600.0)


def test_activation_enables_all_motors_without_torque(motors) -> None:
    bench, rig = motors()
    bench.plant.set_state(1, 0.4, 0.0)
    rig.activate()
    for id_ in IDS:
        assert bench.drive(id_)["firmware"]["enabled"]
        assert bench.drive(id_)["torque"] == 0.0
    np.testing.assert_allclose(rig.state.position, [0.0, 0.4], atol=4 * math.pi / 32767)
    assert healthy(rig.system.safety())


def test_five_numbers_give_the_torque_of_the_mit_law_at_the_joint(motors) -> None:
    bench, rig = motors()
    bench.plant.set_brake(0, engaged=True)
    rig.activate()
    rig.command.position[0], rig.command.velocity[0] = 0.1, 0.2
    rig.command.effort[0], rig.command.stiffness[0], rig.command.damping[0] = 0.3, 20.0, 2.0
    expected = 20.0 * 0.1 + 2.0 * 0.2 + 0.3
    quantization = (
        20.0 * 0.5 * 4 * math.pi / 32767  # position
        + 2.0 * 0.5 * 44 / 32767  # velocity
        + 0.5 * 17 / 32767  # torque
        + 0.1 * 0.5 * 500 / 65535  # stiffness
        + 0.2 * 0.5 * 5 / 65535  # damping
    )
    rig.until(lambda _: bench.drive(5)["torque"] == pytest.approx(expected, abs=quantization))
    rig.until(lambda _: rig.state.effort[0] == pytest.approx(expected, abs=17 / 32767 + 1e-2))


def test_motor_keeps_sending_until_the_loop_begins(motors) -> None:
    bench, rig = motors()
    rig.activate()
    frames = bench.call("statistics")["frames"]
    wait = rig.pause
    while bench.call("statistics")["frames"] < frames + 12:  # two motors, each asked and answering
        wait(0.01)
    rig.system.read(rig.state, 0.0, 0.02)
    assert healthy(rig.system.safety())


def test_gain_beyond_the_model_is_refused_by_name(motors) -> None:
    _, rig = motors()
    rig.system.check_gains(500.0, 5.0, "standby_controller")
    with pytest.raises(ConfigError, match=r"damping_controller: damping is 6 .*j0 \(rs-02\).*5"):
        rig.system.check_gains(0.0, 6.0, "damping_controller")
    with pytest.raises(ConfigError, match="stiffness is 501"):
        rig.system.check_gains(501.0, 0.0, "standby_controller")


def test_gain_beyond_the_model_is_saturated_and_reported(motors) -> None:
    bench, rig = motors()
    rig.activate()
    rig.command.damping[0] = 6.0
    rig.until(lambda report: "j0: command saturated" in report.message)
    rig.until(lambda _: bench.drive(5)["firmware"]["damping"] == pytest.approx(5.0))
    assert rig.system.saturations[0] > 0


def test_firmware_limits_act_in_the_motor(motors) -> None:
    bench, rig = motors(joint={"torque_limit": "1.5"})
    bench.plant.set_brake(0, engaged=True)
    rig.activate()
    rig.command.effort[0] = 5.0  # the loop's limit stage would not let it through
    rig.until(lambda _: bench.drive(5)["torque"] == pytest.approx(1.5))
    np.testing.assert_array_equal(rig.system.effort_limit(rig.state.position), 1.5)


@pytest.mark.parametrize(
    ("limit", "value"), [("velocity", 57.3), ("velocity", 343.8), ("effort", 300.0)]
)
def test_limits_that_the_model_does_not_reach_are_refused(can_info, limit, value) -> None:
    """6 rad/s are 57.3 rpm and 343.8 deg/s; an rs-04 has 15 rad/s and 120 Nm."""
    info = can_info([5, 6], "rs-04")
    limits = replace(info.limits, **{limit: np.array([6.0, value])})
    with pytest.raises(ConfigError, match=rf"'j1': its {limit} limit in the .* is {value:g}, more"):
        RobstrideSystem().on_configure(replace(info, limits=limits))


def test_effort_limit_is_the_lower_of_urdf_and_firmware(motors) -> None:
    _, rig = motors(model="rs-04", joint={"torque_limit": "5.5"})
    np.testing.assert_array_equal(rig.system.effort_limit(rig.state.position), 5.5)
    _, rig = motors(model="rs-04")
    np.testing.assert_array_equal(rig.system.effort_limit(rig.state.position), 8.0)


@pytest.mark.parametrize(("given", "time"), [(None, 0.2), ("0.1", 0.1)], ids=["usual", "given"])
def test_motor_disables_itself_when_the_host_is_silent(motors, given, time) -> None:
    bench, rig = motors(joint={"can_timeout": given})
    rig.activate()
    np.testing.assert_array_equal(rig.system.watchdog_times(), time)
    rig.tick()  # after this the loop is responsible
    while bench.drive(5)["firmware"]["enabled"]:  # without a write
        rig.pause(0.01)
    report = rig.until(lambda report: report.flags & SafetyFlag.MOTOR_FAULT)
    assert "is disabled, maybe restarted" in report.message
    rig.system.reset_faults()
    rig.until(healthy)


def test_time_out_of_another_program_is_removed_if_none_is_configured(can_bench, can_info, can_rig):
    bench = can_bench("robstride", "rs-02", IDS)
    for given, ticks in ({}, 4000), ({"can_timeout": "0"}, 0):
        block = can_info(IDS, "rs-02", channel=bench.address, joint=given)
        rig = can_rig(RobstrideSystem(QUICK, bench.host), block, bench.time)
        rig.activate()
        assert [bench._can.motor(id_).firmware._memory.values.timeout for id_ in IDS] == [ticks] * 2
        rig.deactivate()
    np.testing.assert_array_equal(rig.system.watchdog_times(), np.inf)


def test_a_motor_that_reports_by_itself_is_told_to_stop_before_it_is_enabled(motors) -> None:
    bench, rig = motors()
    orders = [active_report(0xFD, id_, on=True) for id_ in IDS]
    bench.call("stray", orders[0][0], orders[0][1].hex())
    rig.pause(0.5)
    rig.activate()
    assert rig.run(1.0).level is SafetyLevel.OK
    bench.call("stray", orders[1][0], orders[1][1].hex())  # another host, later
    report = rig.until(lambda report: report.level is SafetyLevel.FAULT)
    assert "DUPLICATE_ID" in report.codes
    assert "j1 (id 6)" in report.message
    assert "active reporting" in report.message
    rig.system.reset_faults()
    rig.until(healthy)
    assert rig.run(1.0).level is SafetyLevel.OK


def test_a_motor_that_does_not_stop_reporting_is_refused_and_that_is_named(motors) -> None:
    bench, rig = motors()
    motor = bench._can.motor(6)
    accepts = motor.firmware.accepts
    motor.firmware.accepts = lambda it: it >> 24 != CommunicationType.ACTIVE_REPORT and accepts(it)
    motor.firmware._memory.change(reports=True)
    with pytest.raises(HardwareError, match=r"j1 \(id 6\): reports by itself") as raised:
        rig.activate()
    assert "j0" not in str(raised.value)
    assert "two motors" not in str(raised.value)
    assert not any(bench.drive(id_)["firmware"]["enabled"] for id_ in IDS)


def test_an_offset_that_another_program_has_set_is_named(motors, caplog) -> None:
    bench, rig = motors()
    written = WriteParameter(
        0xFD, 6, ParameterId.ADD_OFFSET, pack_value(ParameterId.ADD_OFFSET, 0.3)
    )
    bench.call("stray", written.encode()[0], written.encode()[1].hex())
    rig.activate()
    (record,) = [it for it in caplog.records if "add_offset" in it.getMessage()]
    assert "j1 (id 6)" in record.getMessage()
    assert "0.3 rad" in record.getMessage()


@pytest.mark.parametrize(("given", "refused"), [("0", False), ("0.2", True)])
def test_a_time_out_of_zero_is_a_way_out_for_firmware_that_does_not_let_it_be_read(
    motors, given: str, refused: bool
) -> None:
    bench, rig = motors(joint={"can_timeout": given})
    bench._can.motor(5).firmware._memory.unreadable = frozenset({ParameterId.CAN_TIMEOUT})
    if not refused:
        rig.activate()
        np.testing.assert_array_equal(rig.system.watchdog_times(), np.inf)
        return
    with pytest.raises(HardwareError, match=r"j0 \(id 5\): its firmware .*can_timeout: 0"):
        rig.activate()


def test_turns_that_a_motor_forgets_without_power_are_found_again_on_reset(motors, caplog) -> None:
    caplog.set_level("INFO")
    bench, rig = motors()
    rig.activate()
    bench.plant.set_state(1, -0.5, 0.0)
    rig.until(lambda _: rig.state.position[1] == pytest.approx(-0.5, abs=1e-2))
    bench.call("power_off", 6)
    rig.until(lambda report: report.flags & SafetyFlag.RX_TIMEOUT)
    bench.call("power_on", 6)
    rig.until(lambda _: rig.state.position[1] > math.pi)  # it wakes up within 0 … 2 pi
    shifts = rig.system.teleports
    rig.system.reset_faults()
    rig.until(healthy)
    assert rig.state.position[1] == pytest.approx(-0.5, abs=1e-2)
    assert rig.system.teleports == shifts + 1
    assert [it for it in caplog.records if "j1 -1" in it.getMessage()]


def test_fault_of_a_motor_is_named_and_reset(motors) -> None:
    bench, rig = motors()
    rig.activate()
    bench.call("motor_fault", 6, int(Fault.UNDERVOLTAGE))
    report = rig.until(lambda report: report.flags & SafetyFlag.MOTOR_FAULT)
    assert report.level is SafetyLevel.FAULT
    assert "j1 (id 6): undervoltage" in report.message
    assert "j0" not in report.message
    rig.system.reset_faults()
    rig.until(healthy)


def test_hot_motor_warns_then_faults_and_needs_to_cool_down(motors) -> None:
    bench, rig = motors()
    rig.activate()
    bench.call("overheat", 5, 140.0)
    report = rig.until(lambda report: report.flags & SafetyFlag.TEMPERATURE_LIMIT)
    assert report.level is SafetyLevel.WARNING
    assert "j0 (id 5): over temperature, 140 °C" in report.message
    bench.call("overheat", 5, 150.0)
    rig.until(lambda report: report.flags & SafetyFlag.MOTOR_FAULT)
    rig.system.reset_faults()
    rig.until(lambda report: "not enabled again: j0 (id 5): can't be enabled" in report.message)
    bench.call("overheat", 5, 30.0)
    rig.system.reset_faults()
    rig.until(healthy)


def test_motor_that_loses_power_is_silent_and_comes_back_on_reset(motors) -> None:
    bench, rig = motors()
    rig.activate()
    bench.call("power_off", 5)
    report = rig.until(lambda report: report.flags & SafetyFlag.RX_TIMEOUT)
    assert "j0 (id 5): silent" in report.message
    bench.call("power_on", 5)
    rig.until(lambda report: "is disabled, maybe restarted" in report.message)
    rig.system.reset_faults()
    rig.until(healthy)
    assert bench.drive(5)["firmware"]["enabled"]


def test_silent_motor_is_named_and_the_other_is_left_disabled(motors) -> None:
    bench, rig = motors()
    bench.call("power_off", 6)
    with pytest.raises(HardwareError, match=r"j1 \(id 6\): no answer within .* on virtual"):
        rig.activate()
    assert not bench.drive(5)["firmware"]["enabled"]


def test_motor_that_takes_long_to_enable_is_waited_for(motors) -> None:
    bench, rig = motors(timing=Timing())
    bench.call("delay_enable", 6, 1.0)
    rig.activate()
    assert bench.drive(6)["firmware"]["enabled"]


@pytest.mark.parametrize("again", [False, True], ids=["activation", "reset"])
def test_motor_that_takes_long_to_enable_does_not_block_the_others(motors, again) -> None:
    bench, rig = motors(timing=Timing(), joint={"can_timeout": "0.5"})
    if again:
        rig.activate()
        bench.call("motor_fault", 5, int(Fault.UNDERVOLTAGE))
        bench.call("motor_fault", 6, int(Fault.UNDERVOLTAGE))
        rig.until(lambda report: "j1" in report.message and "j0" in report.message)
    bench.call("delay_enable", 6, 1.0)
    if again:
        rig.system.reset_faults()
        rig.until(lambda report: "anew" in report.message)
        rig.until(lambda report: "anew" not in report.message)
    else:
        rig.activate()
    assert all(drive["firmware"]["enabled"] for drive in bench.call("drives"))


def test_motor_of_the_other_family_is_reported(motors) -> None:
    bench, rig = motors()
    rig.activate()
    bench.call("stray", 0x050605B1, bytes(8).hex())
    report = rig.until(lambda report: report.flags & SafetyFlag.INVALID_FRAME)
    assert "0x050605B1: Robstride motors have no communication type 5" in report.message


def test_motor_that_answers_twice_shares_its_id(motors) -> None:
    bench, rig = motors()
    rig.activate()
    frame = Status(5, 0xFD, StatusFault(0), 2, 32767, 32767, 32767, 250).encode()
    assert frame[0] >> 24 == CommunicationType.STATUS

    def crowd(report) -> bool:
        for _ in range(5):
            bench.call("stray", frame[0], frame[1].hex())
        return "do two motors have this id" in report.message

    report = rig.until(crowd)
    assert report.level is SafetyLevel.FAULT
    assert report.flags & SafetyFlag.INVALID_FRAME
    assert "j0 (id 5)" in report.message
    assert "j1" not in report.message


def test_second_host_on_the_bus_is_reported(motors) -> None:
    bench, rig = motors()
    rig.activate()
    bench.call("stray", identifier(CommunicationType.ENABLE, 0xFE, 9), bytes(8).hex())
    report = rig.until(lambda report: report.flags & SafetyFlag.INVALID_FRAME)
    assert "another host" in report.message


def test_deactivation_disables_all_motors(motors) -> None:
    bench, rig = motors()
    rig.activate()
    rig.until(healthy)
    rig.deactivate()
    assert not any(drive["firmware"]["enabled"] for drive in bench.call("drives"))


def test_deactivation_names_a_motor_that_does_not_answer(motors) -> None:
    bench, rig = motors()
    rig.activate()
    bench.call("freeze", 6)
    with pytest.raises(HardwareError, match=r"j1 \(id 6\): no answer") as raised:
        rig.deactivate()
    assert "id 5" not in str(raised.value)
    assert not bench.drive(5)["firmware"]["enabled"]


@pytest.fixture
def guarded(
    motors: Callable[..., tuple[CanBench, CanRig]], monkeypatch: pytest.MonkeyPatch
) -> tuple[CanBench, CanRig]:
    """The two motors without their time-out, stiff, with a guard."""
    monkeypatch.setattr(bus_lifecycle, "needs_guard", lambda *_: True)
    bench, rig = motors()
    rig.activate()
    rig.command.stiffness[:] = 20.0
    rig.run(0.5)
    return bench, rig


def test_guard_asks_motors_without_a_time_out_whether_they_are_disabled(guarded) -> None:
    bench, rig = guarded
    bench.hold_up(1.0)
    report = rig.run(0.1)
    assert "j0 (id 5), j1 (id 6): disabled by the guard" in report.message
    assert not any(drive["firmware"]["enabled"] for drive in bench.call("drives"))
    rig.deactivate()


def test_guard_does_not_report_a_silent_motor_as_disabled(guarded) -> None:
    bench, rig = guarded
    bench.call("freeze", 6)
    bench.hold_up(1.0)
    report = rig.until(lambda it: "the guard could not disable j0 (id 5), j1 (id 6)" in it.message)
    assert "two motors" not in report.message  # the motors also answer the guard's orders
    assert [drive["firmware"]["enabled"] for drive in bench.call("drives")] == [False, True]
    with pytest.raises(HardwareError, match=r"j1 \(id 6\): no answer"):
        rig.deactivate()


def test_between_the_loops_end_and_the_motors_the_guard_does_not_act(guarded) -> None:
    bench, rig = guarded
    rig.call(rig.system.loop_ended)
    rig.pause(1.0)  # longer than a loop may stand still, as the exit of another bus
    motors = [drive["firmware"] for drive in bench.call("drives")]
    assert all(motor["enabled"] and motor["stiffness"] == 0.0 for motor in motors)
    rig.deactivate()
