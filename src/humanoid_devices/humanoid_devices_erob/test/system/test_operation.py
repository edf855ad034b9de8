"""Ten drives under the control loop on a virtual ring: measurements, targets, gains."""

from __future__ import annotations

import numpy as np
import pytest

from humanoid_control_common.robot.mit_interface import COMMAND_INTERFACES, Capability
from humanoid_control_common.rules.modes import Mode
from humanoid_controller_manager.hardware_component import HARDWARE_CONTRACT
from humanoid_devices_erob.drive.drive_registers import REGISTERS
from humanoid_devices_erob.mailbox.sdo import SdoBatch, SdoObject, SdoStatus
from humanoid_devices_erob.master.al_state import AlState
from humanoid_devices_erob.protocol.objects import GATE_SWITCH, POSITION_GAIN

PER_RADIAN = 524288 / (2 * np.pi)


def test_component_reports_its_capabilities(make_info, make_bench) -> None:
    system = make_bench(2).system
    assert "impedance_confirmed" in HARDWARE_CONTRACT.taken_on(type(system), "")
    assert "reset_faults" in HARDWARE_CONTRACT.taken_on(type(system), "")
    levels = dict(zip(COMMAND_INTERFACES, system.capabilities()[:, 0], strict=True))
    assert levels == {
        "position": Capability.PER_TICK,
        "velocity": Capability.NEVER,
        "effort": Capability.NEVER,
        "stiffness": Capability.PER_MODE,
        "damping": Capability.PER_MODE,
    }


def test_measurements_are_in_the_joint_frame_and_order(make_any_bench) -> None:
    bench = make_any_bench(3)
    bench.new_system(
        positions=[2, 0, 1], calibration=[(-1, 0.5), (1, 0.0), (1, -0.25)], update_rate=50.0
    )
    for slave, angle in enumerate((0.1, 0.2, 0.3)):
        bench.control.set_joint(slave, angle)
    bench.activate()
    bench.tick(3)
    np.testing.assert_allclose(bench.state.position, [-(0.3 - 0.5), 0.1, 0.2 + 0.25], atol=1e-4)
    np.testing.assert_allclose(bench.state.velocity, 0.0, atol=1e-3)


def test_command_arrives_in_the_raw_frame_of_its_drive(make_any_bench) -> None:
    bench = make_any_bench(2)
    bench.new_system(positions=[1, 0], calibration=[(-1, 0.5), (1, -0.25)])
    bench.activate()
    bench.enter(Mode.STANDBY, 1, 20.0, 2.0)
    bench.command.stiffness[:] = 20.0
    bench.command.position[:] = bench.state.position
    bench.tick(2)
    wanted = bench.state.position + np.array([0.02, 0.01])
    bench.command.position[:] = wanted
    bench.tick(3)
    raw = [wanted[1] - 0.25, -wanted[0] + 0.5]
    np.testing.assert_allclose(bench.of_drives("target"), np.rint(np.array(raw) * PER_RADIAN))


def test_torque_is_measured_with_its_sign(make_bench) -> None:
    bench = make_bench(2)
    bench.new_system(calibration=[(-1, 0.0), (1, 0.0)])
    bench.activate()
    for slave in (0, 1):
        bench.control.external_torque(slave, -3.0)
    bench.tick(50)
    # The drives hold against the load while their targets follow: the sum of torque and load is
    # small.
    raw = np.array(bench.of_drives("torque")) * 30.0 / 1000
    np.testing.assert_allclose(bench.state.effort, raw * [-1, 1], atol=0.2)
    assert abs(raw).min() > 0.5


@pytest.mark.parametrize("kind", ["writable", "read-only", "kept", "absent"])
def test_unarmed_arm_is_held_and_sinks_slowly_whatever_its_feed_forward(make_bench, kind) -> None:
    """From the brakes' release in the bring-up, before the loop's first tick, to the exit."""
    bench = make_bench(2, joints="arms", assume={"feed_forward": kind, "brake": True})
    bench.control.set_joint(0, 1.5)
    bench.control.set_joint(1, -1.5)
    fastest = [0.0]

    def look(_: float) -> None:
        fastest[0] = max(fastest[0], *(abs(v) for v in bench.of_drives("joint_velocity")))

    bench.time.on_sleep = look
    bench.activate()
    bench.system.mode_changed(Mode.ZERO_TORQUE, 1)
    bench.command.position[:] = 1.0
    bench.tick(50)
    held = np.abs(bench.of_drives("joint_position"))
    bench.system.on_deactivate()
    # 6 Nm against 20 Nm s/rad when the brake lets go; then a fiftieth of the limit of 4 rad/s.
    assert 0.05 < fastest[0] < 6.0 / 20.0 + 0.08
    assert (held > 1.5 - 0.05 - 1.0 * 0.08).all()


def test_unarmed_joint_resists_a_hand_and_stays_in_operation(make_bench) -> None:
    bench = make_bench(1)
    bench.activate()
    bench.control.external_torque(0, 33.5)  # [Nm]; the drive can give 32.3
    furthest = 0.0
    for _ in range(200):
        bench.tick()
        furthest = max(furthest, bench.of_drives("joint_position")[0])
        if furthest > 3.0:
            break
    assert furthest > 3.0  # beyond the 2.5 rad at which a target left behind is error 0x8500
    assert bench.of_drives("error") == [0]


def test_target_gives_way_slowly_while_nothing_is_confirmed(make_bench) -> None:
    bench = make_bench(2)
    bench.activate()
    bench.system.mode_changed(Mode.STANDBY, 1)
    bench.command.stiffness[:] = 20.0
    bench.command.position[:] = 1.0
    for slave in (0, 1):
        bench.control.external_torque(slave, -5.0)
    bench.tick(2)
    targets = [np.array(bench.of_drives("target")) / PER_RADIAN]
    for _ in range(100):
        bench.tick()
        targets.append(np.array(bench.of_drives("target")) / PER_RADIAN)
    assert (np.array(bench.of_drives("joint_position")) < -0.01).all()
    assert (targets[-1] < -0.01).all()  # away from the command
    # A fiftieth of the velocity limit of 4 rad/s, and a count of rounding.
    assert np.abs(np.diff(targets, axis=0)).max() < 0.08 * 0.02 + 2e-5


def test_target_follows_in_a_mode_without_stiffness_although_gains_are_confirmed(
    make_bench,
) -> None:
    bench = make_bench(2)
    bench.activate()
    bench.enter(Mode.DAMPING, 1, 0.0, 6.0)
    bench.command.position[:] = 1.0
    for slave in (0, 1):
        bench.control.external_torque(slave, 1.0)
    bench.tick(100)
    moved = np.array(bench.of_drives("joint_position"))
    assert (moved > 0.1).all()
    behind = moved - np.array(bench.of_drives("target")) / PER_RADIAN
    speed = np.array(bench.of_drives("joint_velocity"))
    assert (np.abs(behind) < 3 * 0.02 * speed + 1e-4).all()


def test_joint_sagged_while_unconfirmed_returns_within_its_speed_limit(make_bench) -> None:
    bench = make_bench(2)
    bench.activate()
    bench.enter(Mode.STANDBY, 1, 20.0, 2.0)
    bench.command.stiffness[:] = 20.0
    bench.command.position[:] = 0.0
    bench.tick(10)
    bench.system.mode_changed(Mode.STANDBY, 2)  # not confirmed after this
    bench.tick(2)
    for slave in (0, 1):
        bench.control.set_joint(slave, -0.6)
    bench.tick(5)
    fastest = [0.0]

    def look(_: float) -> None:
        fastest[0] = max(fastest[0], *(abs(v) for v in bench.of_drives("joint_velocity")))

    bench.time.on_sleep = look
    registers = bench.set_gains(20.0, 2.0)
    bench.state_impedance(registers)
    bench.tick(100)
    assert bench.system.impedance_confirmed()
    np.testing.assert_allclose(bench.of_drives("joint_position"), 0.0, atol=0.05)
    assert 0.5 < fastest[0] < 4.0  # [rad/s]; it moved, and stayed under the limit


def test_stiffness_that_acts_is_reported_as_read_back(make_bench) -> None:
    bench = make_bench(2)
    bench.activate()
    bench.tick()
    assert np.isnan(bench.system.realized_stiffness()).all()
    bench.enter(Mode.STANDBY, 1, 20.0, 2.0)
    np.testing.assert_allclose(bench.system.realized_stiffness(), 20.0, rtol=0.02)


def read_gate(slave: int = 0) -> SdoBatch:
    return SdoBatch((SdoObject(slave, *GATE_SWITCH),), write=False)


def test_batch_is_refused_before_the_loop_drives_the_ring(make_bench) -> None:
    bench = make_bench(2)
    bench.activate()
    bench.control.log()
    (result,) = bench.system.submit(read_gate()).result(0)
    assert result.status is SdoStatus.REFUSED
    bench.tick(3)
    assert [line for line in bench.control.log() if line[2] == "request"] == []
    (result,) = bench.finish(bench.system.submit(read_gate()))
    assert result.status is SdoStatus.DONE


def test_batch_sends_no_request_to_a_slave_outside_op_and_serves_the_others(make_bench) -> None:
    bench = make_bench(2)
    bench.activate()
    bench.tick(3)
    bench.system._master.request_slave_state(1, AlState.INIT)
    bench.tick(3)
    bench.control.log()
    both = bench.system.submit(SdoBatch((*read_gate(0).objects, *read_gate(1).objects), False))
    served, refused = bench.finish(both)
    assert served.status is SdoStatus.DONE
    assert refused.status is SdoStatus.REFUSED
    assert "slave 1 is not in OP" in refused.message
    assert {line[1] for line in bench.control.log() if line[2] == "request"} == {0}


def test_the_error_of_drives_that_lost_their_process_data_is_read_where_they_fell_to(
    make_bench,
) -> None:
    """The control process stood still for longer than the watchdog: SAFEOP with error."""
    bench = make_bench(2)
    bench.activate()
    bench.tick(3)
    bench.control.advance(0.6)
    bench.tick(4)
    assert bench.of_drives("al_state") == [AlState.SAFEOP] * 2
    report = bench.system.safety()
    assert "error 0xA000" in report.message
    assert {"AL_WATCHDOG", "DRIVE_ERROR_A000", "DRIVE_FAULT"} <= set(report.codes)
    assert "DRIVE_ERROR_UNREAD" not in report.codes
    (result,) = bench.finish(bench.system.submit(SdoBatch((SdoObject(1, 0x603F, 0),), False)))
    assert result.object.data == b"\x00\xa0"
    bench.system.reset_faults()
    bench.tick(60)
    assert bench.of_drives("al_state") == [AlState.OP] * 2
    assert bench.system.safety().message == ""


def test_batch_is_refused_after_too_long_without_process_data(make_bench) -> None:
    bench = make_bench(1)
    bench.activate()
    bench.tick(3)
    bench.control.log()
    future = bench.system.submit(read_gate())
    bench.control.advance(0.07)  # three periods of 20 ms and more
    bench.system.idle_until(bench.time.clock() + 0.01)
    (result,) = future.result(0)
    assert result.status is SdoStatus.REFUSED
    assert "no exchange of process data for 90 ms" in result.message
    assert [line for line in bench.control.log() if line[2] == "request"] == []


def test_gains_of_a_drive_are_read_after_a_write_whose_end_is_not_known(make_bench) -> None:
    bench = make_bench(1)
    bench.activate()
    bench.enter(Mode.DAMPING, 1, 0.0, 6.0)
    bench.control.mailbox_delay(float("inf"))
    (result,) = bench.write(SdoObject(0, *POSITION_GAIN, bytes(4)))
    assert result.status is SdoStatus.TIMED_OUT
    bench.control.mailbox_delay(0.0)
    bench.control.log()
    bench.tick(50)
    read = {
        (it["index"], it["subindex"]) for _, _, kind, it in bench.control.log() if kind == "read"
    }
    assert read >= set(REGISTERS)


def test_gains_that_a_slow_batch_has_read_do_not_replace_those_read_back_since(make_bench) -> None:
    """A batch ends with its slowest slave, long after the reading of the others."""
    bench = make_bench(3)
    bench.control.mailbox_delay(0.002)
    bench.activate()
    bench.enter(Mode.DAMPING, 1, 0.0, 6.0)
    gains = [SdoObject(0, *key) for key in REGISTERS]
    identity = [SdoObject(2, 0x1018, 1 + i % 4) for i in range(200)]
    slow = bench.system.submit(SdoBatch((*gains, *identity), write=False))
    bench.tick(2)
    bench.enter(Mode.STANDBY, 2, 20.0, 2.0)
    assert not slow.done()
    read = {r.object.key: r.object.data for r in bench.finish(slow) if r.object.slave == 0}
    assert read[POSITION_GAIN] == bytes(4)  # the value of DAMPING
    bench.tick(2)
    assert bench.system.impedance_confirmed()
    np.testing.assert_allclose(bench.system.realized_stiffness(), 20.0, rtol=0.02)


@pytest.mark.parametrize(("mode", "number"), [(2, 6), (1, 7)])
def test_write_for_another_mode_or_number_is_refused(make_bench, mode: int, number: int) -> None:
    bench = make_bench(2)
    bench.activate()
    bench.system.mode_changed(Mode.STANDBY, 7)
    bench.tick()
    bench.control.log()
    write = SdoObject(0, *POSITION_GAIN, (515).to_bytes(4, "little"))
    batch = SdoBatch((write,), write=True, mode=mode, number=number)
    (result,) = bench.finish(bench.system.submit(batch))
    assert result.status is SdoStatus.REFUSED
    assert "in force is 2 under 7" in result.message
    assert [line for line in bench.control.log() if line[2] == "request"] == []


def test_mode_change_stops_a_batch_between_two_objects(make_bench) -> None:
    bench = make_bench(1)
    bench.activate()
    bench.system.mode_changed(Mode.STANDBY, 7)
    bench.tick()
    bench.control.mailbox_delay(0.015)
    writes = tuple(SdoObject(0, 0x2381, sub, b"\7\0\0\0") for sub in (1, 2)) * 4
    future = bench.system.submit(SdoBatch(writes, write=True, mode=2, number=7))
    bench.tick(3)
    bench.system.mode_changed(Mode.DAMPING, 8)
    results = bench.finish(future)
    statuses = [result.status for result in results]
    assert statuses[0] is SdoStatus.DONE
    assert statuses[-1] is SdoStatus.REFUSED


def test_phase_of_the_loop_settles_between_two_sync0(make_bench) -> None:
    bench = make_bench(2)
    bench.activate()
    bench.tick(150)
    errors = []
    for _ in range(20):
        bench.tick()
        errors.append(bench.system._ring.lock.error)
    assert max(map(abs, errors)) < 0.0005


def test_no_process_data_frame_waits_for_mail(make_any_bench) -> None:
    bench = make_any_bench(10, mailbox_delay_ms=2.0)
    bench.activate()
    bench.tick(10)
    keys = [(0x2381, 1), (0x2381, 2), (0x2382, 1)]
    reads = tuple(SdoObject(slave, *key) for slave in range(10) for key in keys)
    future = bench.system.submit(SdoBatch(reads, write=False))
    late = []
    while not future.done():
        due = bench._due
        late.append(bench.time.clock() - due)
        bench.tick()
    assert len(late) <= 2  # 30 objects in one period of 20 ms: 3 x 2 ms, all slaves at once
    assert max(late) < 0.0005
