"""From power-up to ten drives in operation on a virtual ring, and errors of the bring-up."""

from __future__ import annotations

import threading

import pytest

from humanoid_control_common.errors import HardwareError
from humanoid_devices_erob.bring_up.bench import PREOP_TIMEOUT
from humanoid_devices_erob.bring_up.bring_up import wait_for_preop
from humanoid_devices_erob.bring_up.drive_setup import set_up_drives
from humanoid_devices_erob.errors import BringUpError, IdentityError
from humanoid_devices_erob.mailbox.sdo import SdoBatch, SdoObject, SdoStatus
from humanoid_devices_erob.master.ring import Ring
from humanoid_devices_erob.protocol.frame import Command, decode_frame

INIT, PREOP, SAFEOP, OP = 1, 2, 4, 8
HEALTHY = 5687


def test_all_drives_come_into_operation_together_without_a_fault(make_any_bench) -> None:
    bench = make_any_bench()
    bench.activate()
    bench.tick(5)
    drives = bench.control.drives()
    assert [drive["al_state"] for drive in drives] == [OP] * 10
    assert [drive["statusword"] for drive in drives] == [HEALTHY] * 10
    assert [drive["sync_errors"] for drive in drives] == [0] * 10
    log = bench.control.log()
    assert [line for line in log if line[2] == "fault"] == []
    assert not any(detail["error"] for _, _, kind, detail in log if kind == "state")
    assert bench.of_drives("error") == [0] * 10
    assert bench.system.safety().level == 0


def test_slaves_change_their_states_together(make_bench) -> None:
    bench = make_bench()
    bench.activate()
    changes = [line for line in bench.control.log() if line[2] == "state"]
    for state in (SAFEOP, OP):
        times = [time for time, _, _, detail in changes if detail["state"] == state]
        assert len(times) == 10
        assert max(times) - min(times) < 0.005


def test_ring_stays_in_preop_while_other_components_are_activated(make_bench) -> None:
    bench = make_bench(3)
    bench.system.begin_activation()
    long_after = threading.Event()
    bench.time.on_frame = lambda _: long_after.set() if bench.time.clock() > 10.0 else None
    bench.time.wait(long_after)
    assert [drive["al_state"] for drive in bench.control.drives()] == [PREOP] * 3


def test_ring_is_left_in_init_if_another_component_cannot_be_activated(make_wire_bench) -> None:
    bench = make_wire_bench(2)
    bench.system.begin_activation()
    while [drive["al_state"] for drive in bench.control.drives()] != [PREOP] * 2:
        pass
    bench.system.on_deactivate()
    assert [drive["al_state"] for drive in bench.control.drives()] == [INIT] * 2
    bench.activate()
    assert [drive["al_state"] for drive in bench.control.drives()] == [OP] * 2


def test_no_mail_from_the_start_of_sync0_until_op(make_bench) -> None:
    bench = make_bench()
    bench.activate()
    bench.tick(20)
    log = bench.control.log()
    requests = [time for time, _, kind, _ in log if kind == "request"]
    safeop = [t for t, _, kind, detail in log if kind == "state" and detail["state"] == SAFEOP]
    in_op = [t for t, _, kind, detail in log if kind == "state" and detail["state"] == OP]
    set_up = [time for time in requests if time < max(in_op)]
    assert len(set_up) > 100  # the set-up was by mail
    assert max(set_up) < min(safeop) - 0.002


def test_bring_up_writes_no_object_that_has_its_value(make_any_bench) -> None:
    bench = make_any_bench(2)
    bench.activate()
    bench.system.on_deactivate()
    bench.control.log()
    bench.new_system()
    bench.activate()
    writes = [line for line in bench.control.log() if line[2] == "write"]
    assert writes == []


def test_mapping_of_another_program_is_replaced(make_any_bench) -> None:
    bench = make_any_bench(2)
    master = bench.new_master()
    master.open(bench.interface)
    master.scan()
    bench.control.advance(0.1)
    strange = [
        (0x1C13, 0, b"\0"),
        (0x1A00, 0, b"\0"),
        (0x1A00, 1, (0x6041_00_10).to_bytes(4, "little")),
        (0x1A00, 0, b"\1"),
        (0x1C13, 1, (0x1A00).to_bytes(2, "little")),
        (0x1C13, 0, b"\1"),
    ]
    batch = SdoBatch(tuple(SdoObject(1, *one) for one in strange), write=True)
    results = Ring(master, master.mailbox_layouts(), bench.time).complete(batch)
    assert {result.status for result in results} == {SdoStatus.DONE}
    master.close()
    bench.control.log()
    bench.activate()
    bench.tick(3)
    writes = [(slave, it["index"]) for _, slave, kind, it in bench.control.log() if kind == "write"]
    assert {slave for slave, _ in writes} == {1}
    assert {index for _, index in writes} == {0x1A00, 0x1C13}
    assert bench.of_drives("statusword") == [HEALTHY] * 2
    assert bench.of_drives("target") == bench.of_drives("position")


def test_targets_are_the_measured_positions_before_anything_is_enabled(make_bench) -> None:
    bench = make_bench(3)
    for slave, angle in enumerate((0.3, -1.2, 2.0)):
        bench.control.set_joint(slave, angle)
    fastest = [0.0]

    def look(_: float) -> None:
        fastest[0] = max(fastest[0], *(abs(v) for v in bench.of_drives("joint_velocity")))

    bench.time.on_sleep = look
    bench.activate()
    bench.time.on_sleep = None
    assert bench.state.position == pytest.approx([0.3, -1.2, 2.0], abs=1e-4)
    assert fastest[0] < 1e-3


def test_gate_left_armed_by_a_stack_that_was_killed_is_closed_in_preop(make_any_bench) -> None:
    bench = make_any_bench(3)
    bench.activate()
    bench.tick(3)
    results = bench.write(*(SdoObject(slave, 0x2383, 0, b"\1\0\0\0") for slave in range(3)))
    assert {result.status for result in results} == {SdoStatus.DONE}
    bench.die()
    assert bench.of_drives("gate") == [1, 1, 1]
    bench.control.log()
    bench.new_system()
    bench.activate()
    log = bench.control.log()
    closed = [t for t, _, kind, it in log if kind == "write" and it["index"] == 0x2383]
    left_preop = [t for t, _, kind, it in log if kind == "state" and it["state"] == SAFEOP]
    assert len(closed) == 3
    assert max(closed) < min(left_preop)
    assert bench.of_drives("gate") == [0, 0, 0]
    assert bench.of_drives("statusword") == [HEALTHY] * 3


def test_wrong_count_names_where_the_ring_ends(make_any_bench) -> None:
    bench = make_any_bench(3)
    bench.new_system(4)
    with pytest.raises(IdentityError, match=r"found 3 slaves, expected 4.*cable to slave 3 \(j3\)"):
        bench.system.on_activate(bench.state)


def test_wrong_product_is_named_with_its_joint(make_wire_bench) -> None:
    bench = make_wire_bench(3)
    bench.control.identity(1, 0x5A65726F, 0x4711)
    with pytest.raises(IdentityError, match=r"slave 1 \(j1\): found .*product 0x00004711"):
        bench.system.on_activate(bench.state)


def test_slaves_of_different_kinds_that_were_swapped_are_named(make_wire_bench) -> None:
    bench = make_wire_bench(3)
    bench.control.identity(0, 0x5A65726F, 0x4711)
    bench.control.swap(0, 2)
    with pytest.raises(IdentityError, match=r"slave 2 \(j2\): found .*0x00004711") as raised:
        bench.system.on_activate(bench.state)
    assert "slave 0" not in str(raised.value)


def test_drive_with_another_serial_number_is_named(make_bench) -> None:
    bench = make_bench(2)
    bench.new_system(serials=[None, "77"])
    with pytest.raises(IdentityError, match=r"slave 1 \(j1\): found serial number 0, expected 77"):
        bench.system.on_activate(bench.state)


def test_missing_ring_is_reported_with_what_to_check(make_any_bench) -> None:
    bench = make_any_bench(2)
    bench.control.cut(-1)
    with pytest.raises(IdentityError, match=r"found 0 slaves.*check power and the cable"):
        bench.system.on_activate(bench.state)


def test_mailbox_that_never_answers_is_named_with_its_joint(make_bench) -> None:
    bench = make_bench(3)
    bench.control.mailbox_delay(float("inf"), 1)
    with pytest.raises(BringUpError, match=r"3 times: j1: 0x2383:00: no answer.*power") as raised:
        bench.system.on_activate(bench.state)
    assert "j0" not in str(raised.value)
    assert "j2" not in str(raised.value)


@pytest.mark.parametrize("delay", [1.0, 2.0])
def test_drives_with_slow_mailboxes_are_set_up(make_bench, delay: float) -> None:
    """Assumed: no document states the longest time of an eRob's mailbox."""
    bench = make_bench(2)
    bench.activate()
    bench.die()
    bench.control.mailbox_delay(delay)
    master = bench.new_master()
    master.open(bench.interface)
    try:
        master.scan()
        wait_for_preop(master, bench.time, ["j0", "j1"], PREOP_TIMEOUT, threading.Event())
        ring = Ring(master, master.mailbox_layouts(), bench.time)
        set_up_drives(ring, ["j0", "j1"], [None, None], 20_000_000)
    finally:
        master.close()
    assert bench.of_drives("gate") == [0, 0]


@pytest.mark.parametrize(
    ("exchanges_in_op", "message"),
    [
        (False, "the clock of j2 does not answer: power"),
        (True, "frames are lost while the drives are enabled"),
    ],
)
def test_cable_cut_while_frames_are_exchanged_is_no_error_of_the_drives(
    make_bench, caplog, exchanges_in_op: bool, message: str
) -> None:
    bench = make_bench(3)
    bench.new_system(block={"interface": bench.interface, "activation_timeout": "1"})

    def look(frame: bytes) -> None:
        drive = bench.control.drives()[0]
        enabling = drive["statusword"] & 0x6F == 0x21  # ready to switch on
        if enabling if exchanges_in_op else decode_frame(frame)[0].command == Command.LRW:
            bench.control.cut(1)

    bench.time.on_frame = look
    with pytest.raises(IdentityError, match="found 2 slaves"):
        bench.activate()
    assert f"retrying from the start: {message}" in caplog.text


@pytest.mark.parametrize(
    "stage",
    [
        lambda drive: drive["al_state"] == PREOP,
        lambda drive: drive["sync0_active"],
        lambda drive: drive["al_state"] == SAFEOP,
        lambda drive: drive["al_state"] == OP,
    ],
    ids=["PREOP", "SYNC0", "SAFEOP", "OP"],
)
def test_cable_cut_during_bring_up_is_an_error_and_repaired_it_works(make_bench, stage) -> None:
    bench = make_bench(3)
    cut: list[float] = []

    def look(now: float) -> None:
        if not cut and stage(bench.control.drives()[0]):
            cut.append(now)
            bench.control.cut(1)

    bench.time.on_sleep = look
    with pytest.raises((BringUpError, IdentityError), match="j2"):
        bench.system.on_activate(bench.state)
    bench.time.on_sleep = None
    assert len(cut) == 1
    bench.control.mend()
    bench.new_system()
    bench.activate()
    bench.tick(3)
    assert bench.of_drives("statusword") == [HEALTHY] * 3


def test_bring_up_that_fails_takes_no_enabled_drive_out_of_op(make_bench) -> None:
    """Leaving OP while operation is enabled would be an error 0xA000 that stays."""
    bench = make_bench(3)
    bench.new_system(block={"interface": bench.interface, "activation_timeout": "1"})
    enabled = []

    def look(_: float) -> None:
        drives = bench.control.drives()
        enabled.append(drives[0]["statusword"] == HEALTHY)
        if drives[2]["al_state"] == OP:
            bench.control.drive_error(2, 0x8500)  # again and again: the drive cannot be enabled

    bench.time.on_sleep = look
    with pytest.raises(BringUpError, match="j2: not in operation"):
        bench.system.on_activate(bench.state)
    assert any(enabled)
    assert bench.faults() == []
    assert bench.of_drives("error")[:2] == [0, 0]


@pytest.mark.parametrize("seconds", [10.1])
def test_drives_that_take_their_time_are_waited_for_as_long_as_is_allowed(
    make_bench, seconds: float
) -> None:
    """Three changes of state: more than half a minute."""
    bench = make_bench(1, assume={"transition_seconds": seconds})
    slow = {"interface": bench.interface, "bringup_frequency": "50"}
    bench.new_system(block={**slow, "activation_timeout": "3"})
    with pytest.raises(HardwareError, match="PREOP"):
        bench.system.on_activate(bench.state)
    bench.new_system(block={**slow, "activation_timeout": "20"})
    before = bench.time.clock()
    bench.activate()
    assert bench.time.clock() - before > 30.0
    bench.tick(3)
    assert bench.of_drives("statusword") == [HEALTHY]
    assert bench.faults() == []


@pytest.mark.parametrize("seed", range(3))
def test_bring_up_survives_a_frame_lost_in_a_hundred(make_bench, seed: int) -> None:
    bench = make_bench(10, seed=seed)
    bench.control.drop(0.01)
    bench.activate()
    bench.control.drop(0.0)
    bench.tick(5)
    assert bench.control.statistics()["lost_frames"] > 0
    assert bench.of_drives("statusword") == [HEALTHY] * 10


def test_emergency_messages_while_the_mapping_is_read_are_no_failure(make_wire_bench) -> None:
    """SOEM reads it, and reports them like a failed transfer."""
    bench = make_wire_bench(3)
    read, attempts = bench.system._master.map_process_data, []

    def interrupted() -> None:
        attempts.append(bench.time.clock())
        for _ in range(3):
            bench.control.emergency(1, 0x730F)
        read()

    bench.system._master.map_process_data = interrupted
    bench.activate()
    bench.tick(3)
    assert len(attempts) == 1
    assert bench.of_drives("statusword") == [HEALTHY] * 3


def test_whole_bring_up_is_tried_again_a_bounded_number_of_times(make_bench) -> None:
    bench = make_bench(2)
    bench.control.drop(0.8)
    with pytest.raises((BringUpError, IdentityError)):
        bench.system.on_activate(bench.state)
    bench.control.drop(0.0)
    bench.new_system()
    bench.activate()
    assert bench.of_drives("al_state") == [OP] * 2


def test_ring_keeps_cycling_until_the_loop_takes_over(make_wire_bench) -> None:
    bench = make_wire_bench(3)
    passed = threading.Event()
    begun: list[float] = []

    def look(now: float) -> None:
        if bench.system._ring is not None:  # bring-up is over
            begun.append(now)
            if now > begun[0] + 1.0:  # another component was slow
                passed.set()

    bench.time.on_sleep = look
    bench.activate()
    assert passed.wait(60)
    bench.time.on_sleep = None
    bench.tick(10)
    assert bench.faults() == []
    assert bench.of_drives("sync_errors") == [0] * 3
    assert bench.system.safety().level == 0


@pytest.mark.parametrize("rate", [50.0, 200.0, 1000.0])
def test_hand_over_misses_no_sync0_at_any_rate(make_bench, rate: float) -> None:
    bench = make_bench(2)
    bench.new_system(update_rate=rate)
    bench.activate()
    for _ in range(100):
        bench.tick()
        assert bench.of_drives("sync_errors") == [0] * 2
