"""Drives without a robot are read in PREOP; nothing is written."""

from __future__ import annotations

import pytest

from humanoid_devices_erob.bring_up.bench import DriveErrors, bench_ring, read_errors
from humanoid_devices_erob.errors import BringUpError, InterfaceError
from humanoid_devices_erob.mailbox.sdo import SdoBatch, SdoObject, SdoStatus
from humanoid_stepped.wires.soem import SoemSlave

INIT, PREOP = 1, 2


def open_bench(bench):
    return bench_ring(bench.new_master(), bench.interface, bench.time)


def test_errors_and_history_are_read_in_preop_and_the_ring_is_left_in_init(make_any_bench) -> None:
    bench = make_any_bench(3)
    bench.control.drive_error(1, 0x730F)
    with open_bench(bench) as ring:
        errors = read_errors(ring)
        (name,) = ring.complete(SdoBatch((SdoObject(2, 0x1008, 0),), write=False))
    assert [it.code for it in errors] == [0, 0x730F, 0]
    assert [entry & 0xFFFF for entry in errors[1].history] == [0x730F]
    assert "0x730F: " in errors[1].text
    assert "Fix: a fault reset does not clear it: change the drive's battery" in errors[1].text
    assert name.object.data.startswith(b"eRob")
    states = {it["state"] for _, _, kind, it in bench.control.log() if kind == "state"}
    assert states <= {INIT, PREOP}
    assert bench.of_drives("al_state") == [INIT] * 3


def test_text_of_the_history_omits_the_present_error() -> None:
    errors = DriveErrors(0x730F, (0x730F, 0x00018500))
    assert "0x1003:2: 0x8500: position error exceeds limit" in errors.text
    assert "0x1003:1" not in errors.text
    assert DriveErrors().text == ""


def test_write_batch_is_refused_in_bench_mode(make_bench) -> None:
    bench = make_bench(2)
    bench.control.log()
    with open_bench(bench) as ring:
        batch = SdoBatch((SdoObject(0, 0x2381, 1, bytes(4)),), write=True)
        (result,) = ring.complete(batch)
    assert result.status is SdoStatus.REFUSED
    assert [line for line in bench.control.log() if line[2] == "write"] == []


def test_ring_that_a_control_process_holds_is_left_alone(make_wire_bench) -> None:
    bench = make_wire_bench(2)
    bench.activate()
    with pytest.raises(InterfaceError, match="another process drives the ring"):
        open_bench(bench).__enter__()
    bench.tick(5)
    assert bench.faults() == []
    assert bench.of_drives("al_state") == [8, 8]


def test_ring_without_slaves_is_reported_with_what_to_check(make_bench) -> None:
    bench = make_bench(2)
    bench.control.cut(-1)
    with pytest.raises(BringUpError, match=r"no slave answers on .*powered"):
        open_bench(bench).__enter__()


def test_drive_that_hangs_is_reported_and_the_others_are_read(make_bench) -> None:
    bench = make_bench(2)
    bench.control.freeze_firmware(1)
    with open_bench(bench) as ring:
        well, hung = read_errors(ring)
    assert (well.failure, well.text) == ("", "")
    assert "does not go to PREOP" in hung.text


def without_mailbox(slave: SoemSlave) -> None:
    """Let SOEM find sizes of 0 in the EEPROM."""
    slave.write(0x0800, bytes(16))
    for slave.state in (INIT, PREOP):
        slave.write_state()


def test_a_drive_whose_eeprom_is_damaged_is_named_and_its_neighbours_are_read(
    make_bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = make_bench(3)
    set_up = SoemSlave.set_up

    def set_up_by_eeprom(slave: SoemSlave) -> None:
        set_up(slave)
        if slave.place == 1:
            without_mailbox(slave)

    monkeypatch.setattr(SoemSlave, "set_up", set_up_by_eeprom)
    with open_bench(bench) as ring:
        name = tuple(SdoObject(slave, 0x1008, 0) for slave in range(3))
        results = ring.complete(SdoBatch(name, write=False))
    assert [it.status for it in results] == [SdoStatus.DONE, SdoStatus.REFUSED, SdoStatus.DONE]
    assert "EEPROM" in results[1].message
    with pytest.raises(BringUpError, match=r"j1.*EEPROM"):
        bench.activate()


def test_bring_up_of_a_drive_that_stays_in_fault_reports_its_error_and_remedy(make_bench) -> None:
    bench = make_bench(2)
    due = [0.0]

    def again(now: float) -> None:
        if now >= due[0]:
            due[0] = now + 0.05
            bench.control.drive_error(1, 0x730F)

    bench.time.on_sleep = again
    with pytest.raises(BringUpError) as raised:
        bench.activate()
    message = str(raised.value)
    assert "j1: not in operation, statusword" in message
    assert "j1: 0x730F: " in message
    assert "Fix: " in message
    assert "j0" not in message
    bench.time.on_sleep = None
    assert bench.of_drives("al_state") == [INIT] * 2
