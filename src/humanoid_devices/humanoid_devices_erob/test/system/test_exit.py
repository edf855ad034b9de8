"""The exit makes no joint jump and leaves no gate armed, or reports the drive."""

from __future__ import annotations

import subprocess

import pytest

from humanoid_control_common.errors import HardwareError
from humanoid_control_common.rules.modes import Mode
from humanoid_devices_erob.mailbox.sdo import SdoBatch, SdoObject, SdoStatus
from humanoid_devices_erob.master.al_state import AlState
from humanoid_devices_erob.master.cyclic_exchange import DISABLE_TIMEOUT, CyclicExchange
from humanoid_devices_erob.protocol.objects import GATE_SWITCH, POSITION_GAIN, VELOCITY_GAIN

INIT, PREOP, SAFEOP = 1, 2, 4
GATE = 0x2383
ENABLED = 0x27


def stiff(bench) -> None:
    bench.activate()
    bench.enter(Mode.STANDBY, 1, 20.0, 2.0)
    bench.command.stiffness[:] = 20.0
    bench.tick(20)


def test_all_gates_are_closed_after_operation_is_disabled(make_any_bench) -> None:
    bench = make_any_bench(4)
    stiff(bench)
    armed_and_enabled = []

    def look(_: float) -> None:
        drives = bench.control.drives()
        enabled = [drive["statusword"] & 0x6F == ENABLED for drive in drives]
        if any(drive["gate"] == 0 and on for drive, on in zip(drives, enabled, strict=True)):
            armed_and_enabled.append(drives)

    bench.time.on_sleep = look
    bench.system.on_deactivate()
    assert bench.of_drives("gate") == [0] * 4
    assert bench.of_drives("al_state") == [INIT] * 4
    assert not any(bench.of_drives("sync0_active"))
    assert armed_and_enabled == []  # no drive ever had its factory gains while it was enabled


def test_gates_are_closed_by_drives_that_have_no_torque_before_any_leaves_op(make_bench) -> None:
    """In PREOP they could be closed, too; but a drive that leaves OP while enabled is in fault."""
    bench = make_bench(3)
    stiff(bench)
    bench.control.log()
    bench.system.on_deactivate()
    log = bench.control.log()
    closed = [t for t, _, kind, it in log if kind == "write" and it["index"] == GATE]
    left = [t for t, _, kind, it in log if kind == "state" and it["state"] != AlState.OP]
    assert len(closed) == 3
    assert max(closed) < min(left)


def test_gate_of_a_drive_that_stays_enabled_is_closed_only_once_it_has_left_op(
    make_bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = make_bench(2)
    stiff(bench)
    monkeypatch.setattr(CyclicExchange, "disable_all", lambda *_: False)
    enabled_at_the_write = []
    bench.control.log()

    def look(_: float) -> None:
        drives = bench.control.drives()
        for _, slave, kind, it in bench.control.log():
            if kind == "write" and it["index"] == GATE:
                enabled_at_the_write.append(drives[slave]["statusword"] & 0x6F == ENABLED)

    bench.time.on_sleep = look
    bench.system.on_deactivate()
    look(0.0)
    assert enabled_at_the_write == [False] * 2
    assert bench.of_drives("gate") == [0] * 2


def test_batch_of_a_client_that_comes_during_the_exit_is_not_written(make_bench) -> None:
    """The thread was interrupted between the check of the operation and the queueing."""
    bench = make_bench(2)
    bench.control.mailbox_delay(0.002)
    stiff(bench)
    operation, sdo = bench.system._operation, bench.system._ring.sdo
    keys = (POSITION_GAIN, VELOCITY_GAIN, GATE_SWITCH)
    late = tuple(SdoObject(slave, *key, b"\1\0\0\0") for slave in range(2) for key in keys)
    batch = SdoBatch(late, write=True, mode=int(Mode.STANDBY), number=1)
    abandon, futures = sdo.abandon, []

    def interrupted(reason: str) -> None:
        abandon(reason)
        if not futures:
            futures.append(operation.submit(batch))

    sdo.abandon = interrupted
    bench.control.log()
    bench.system.on_deactivate()
    results = futures[0].result(0)
    assert {result.status for result in results} == {SdoStatus.REFUSED}
    assert "the ring is being shut down" in results[0].message
    written = {it["index"] for _, _, kind, it in bench.control.log() if kind == "write"}
    assert written == {GATE}
    assert bench.of_drives("gate") == [0] * 2


def test_sagged_arm_does_not_snap_on_the_way_out(make_bench) -> None:
    bench = make_bench(4, joints="arms")
    stiff(bench)
    for slave in range(4):
        bench.control.external_torque(slave, -6.0)
    bench.tick(150)
    sag = bench.of_drives("joint_position")
    assert min(abs(angle) for angle in sag) > 0.2
    way = [0.0] * 4

    def look(_: float) -> None:
        back = [
            now - before for now, before in zip(bench.of_drives("joint_position"), sag, strict=True)
        ]
        way[:] = [max(a, b) for a, b in zip(way, back, strict=True)]

    bench.time.on_sleep = look
    bench.system.on_deactivate()
    assert max(way) < 0.02  # [rad] upwards: back to where the target was left would be 0.2 and more
    assert bench.of_drives("gate") == [0] * 4


def test_gates_of_drives_that_have_left_op_are_closed_in_preop(make_any_bench) -> None:
    bench = make_any_bench(4)
    stiff(bench)
    bench.control.advance(1.0)  # a process that was held up
    bench.tick(2)
    faulted = bench.of_drives("al_state")
    assert faulted == [SAFEOP] * 4
    assert bench.of_drives("statusword") == [4616] * 4
    assert bench.of_drives("gate") == [1] * 4
    bench.control.log()
    bench.system.on_deactivate()
    assert bench.of_drives("gate") == [0] * 4
    assert bench.of_drives("al_state") == [INIT] * 4
    log = bench.control.log()
    in_preop = [t for t, _, kind, it in log if kind == "state" and it["state"] == PREOP]
    closed = [t for t, _, kind, it in log if kind == "write" and it["index"] == GATE]
    assert len(closed) == 4
    assert min(closed) > max(in_preop)  # no mailbox message before: DC was still active


def test_gate_of_the_one_faulted_drive_is_closed_as_well(make_bench) -> None:
    bench = make_bench(4)
    stiff(bench)
    bench.control.dc_off(1)
    bench.tick(5)
    bench.system._master.request_slave_state(2, AlState.SAFEOP)
    bench.tick(2)
    assert bench.of_drives("al_state")[2] == SAFEOP
    bench.system.on_deactivate()
    assert bench.of_drives("gate") == [0] * 4
    assert bench.of_drives("al_state") == [INIT] * 4


def test_drive_whose_firmware_hangs_is_reported_as_armed_with_advice(make_bench) -> None:
    bench = make_bench(3)
    stiff(bench)
    bench.control.freeze_firmware(1)
    bench.tick(3)
    begun = bench.time.clock()
    with pytest.raises(HardwareError, match=r"may still be armed: j1: .*; switch the power") as it:
        bench.system.on_deactivate()
    assert "j0" not in str(it.value)
    assert "j2" not in str(it.value)
    assert bench.of_drives("gate") == [0, 1, 0]
    assert bench.time.clock() - begun < 5.0


def test_interface_that_is_down_at_the_exit_is_reported_with_all_that_may_be_armed(
    make_wire_bench,
) -> None:
    bench = make_wire_bench(2)
    stiff(bench)
    subprocess.run(["ip", "link", "set", bench.interface, "down"], check=True)
    with pytest.raises(HardwareError, match=r"ip link set .* up'.*may still be armed: j0, j1: "):
        bench.system.on_deactivate()
    assert bench.system._master._master is None


def test_exit_is_tried_for_all_others_when_a_slave_is_dead(make_bench) -> None:
    bench = make_bench(4)
    stiff(bench)
    bench.control.power_off(3)
    bench.tick(3)
    bench.control.log()
    begun = bench.time.clock()
    with pytest.raises(HardwareError, match=r"may still be armed: j3") as raised:
        bench.system.on_deactivate()
    log = bench.control.log()
    closed = [t for t, _, kind, it in log if kind == "write" and it["index"] == GATE]
    assert max(closed) - begun < DISABLE_TIMEOUT  # the last message of a dead slave delays nothing
    assert "j0" not in str(raised.value)
    assert bench.of_drives("gate")[:3] == [0] * 3
    assert bench.of_drives("al_state")[:3] == [INIT] * 3


def test_drive_whose_mailbox_is_dead_is_reported_as_armed(make_bench) -> None:
    bench = make_bench(3)
    stiff(bench)
    bench.control.mailbox_delay(float("inf"), 1)
    with pytest.raises(HardwareError, match=r"may still be armed: j1: no answer"):
        bench.system.on_deactivate()
    assert bench.of_drives("gate") == [0, 1, 0]
    assert bench.of_drives("al_state") == [INIT] * 3


@pytest.mark.parametrize("delay", [1.0, 2.0])
def test_gates_of_drives_with_slow_mailboxes_are_closed_at_the_exit(make_bench, delay) -> None:
    """Assumed: no document says how long an eRob's mailbox takes at worst."""
    bench = make_bench(3)
    stiff(bench)
    bench.control.mailbox_delay(delay)
    bench.tick(5)
    bench.system.on_deactivate()
    assert bench.of_drives("gate") == [0] * 3
    assert bench.of_drives("al_state") == [INIT] * 3


def test_cut_cable_at_the_exit_ends_in_bounded_time_and_is_reported(make_any_bench) -> None:
    bench = make_any_bench(2)
    stiff(bench)
    bench.control.cut(-1)
    bench.tick(2)
    begun = bench.time.clock()
    with pytest.raises(HardwareError, match="armed: j0, j1: does not answer; switch the power"):
        bench.system.on_deactivate()
    assert bench.time.clock() - begun < 10.0
    assert bench.system._master._master is None


def test_exit_of_a_component_that_was_never_active_does_nothing(make_bench) -> None:
    bench = make_bench(2)
    bench.system.on_deactivate()
    bench.control.cut(0)
    with pytest.raises(HardwareError):
        bench.system.on_activate(bench.state)
    bench.system.on_deactivate()
    assert bench.system._master._master is None


def test_exit_right_after_activation_works(make_bench) -> None:
    bench = make_bench(2)
    bench.activate()
    bench.system.on_deactivate()
    assert bench.of_drives("al_state") == [INIT] * 2


def test_system_can_be_activated_again(make_any_bench) -> None:
    bench = make_any_bench(2)
    for _ in range(3):
        bench.activate()
        bench.tick(3)
        assert bench.of_drives("statusword") == [5687] * 2
        bench.system.on_deactivate()


def test_ticks_without_activation_are_errors(make_bench) -> None:
    bench = make_bench(2)
    with pytest.raises(HardwareError, match="not active"):
        bench.tick()


def test_lost_request_of_init_is_sent_again(make_wire_bench) -> None:
    """Once the loop runs, SOEM itself repeats it too rarely."""
    bench = make_wire_bench(2)
    stiff(bench)
    master = bench.system._master
    request, requested = master.request_state, []

    def lossy(state: AlState) -> None:
        if not requested:
            bench.control.drop_next(100)
        requested.append(state)
        request(state)
        bench.control.drop_next(0)

    master.request_state = lossy
    bench.system.on_deactivate()
    assert requested == [AlState.INIT] * 2
    assert bench.of_drives("al_state") == [INIT] * 2
    assert bench.of_drives("error") == [0] * 2
