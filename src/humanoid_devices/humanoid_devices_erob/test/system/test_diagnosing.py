"""Every fault of the virtual ring is reported with the right joint and its remedy."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from humanoid_control_common.rules.diagnosis import Diagnosis, DiagnosisLevel
from humanoid_control_common.rules.modes import Mode
from humanoid_controller_manager.hardware_component import HARDWARE_CONTRACT
from humanoid_devices_erob.mailbox.sdo import SdoBatch, SdoObject, SdoStatus

if TYPE_CHECKING:
    from src.humanoid_devices.humanoid_devices_erob.test.system.conftest import Bench

OK, WARN, ERROR = DiagnosisLevel.OK, DiagnosisLevel.WARN, DiagnosisLevel.ERROR
BUS, IMPEDANCE = "bus: Side", "impedance: Side"


def diagnoses(bench) -> dict[str, Diagnosis]:
    return {diagnosis.name: diagnosis for diagnosis in bench.system.diagnose()}


def at_fault(found: dict[str, Diagnosis]) -> set[str]:
    """Joints whose status is an error; each has a remedy."""
    joints = {name: it for name, it in found.items() if name.startswith("joint: ")}
    bad = {name: it for name, it in joints.items() if it.level is ERROR}
    assert all(it.codes for it in bad.values()), bad
    return {name.removeprefix("joint: ") for name in bad}


@pytest.fixture
def bench(make_bench: Callable[..., Bench]) -> Bench:
    """Four drives in STANDBY with confirmed gains; earlier events are diagnosed."""
    bench = make_bench(4)
    bench.activate()
    bench.enter(Mode.STANDBY, 1, 20.0, 2.0)
    bench.command.position[:] = bench.state.position
    bench.command.stiffness[:] = 20.0
    bench.tick(5)
    diagnoses(bench)
    return bench


def test_drives_that_are_well_are_ok_and_known_in_detail(bench) -> None:
    assert "diagnose" in HARDWARE_CONTRACT.taken_on(type(bench.system), "")
    found = diagnoses(bench)
    assert [*found] == [BUS, IMPEDANCE, *(f"joint: j{i}" for i in range(4))]
    assert {it.level for it in found.values()} == {OK}
    assert {it.source for it in found.values()} == {"Side"}
    assert found[BUS].values["slaves in OP"] == "4 of 4"
    assert found[BUS].values["working counter"] == "12 of 12"
    assert found[BUS].values["lost exchanges"] == "0"
    joint = found["joint: j2"].values
    assert joint["statusword"] == "5687 (0x1637)"
    assert (joint["AL state"], joint["in operation"], joint["gate 0x2383"]) == ("OP", "yes", "1")
    assert (joint["pos_reg"], joint["vel_reg"]) == ("515", "19")
    assert float(joint["stiffness by the registers [Nm/rad]"]) == pytest.approx(20.0, rel=0.02)
    assert found[IMPEDANCE].values["gate for SDO writes"] == "open"


def test_diagnoses_are_stale_before_the_ring_is_up(make_bench) -> None:
    found = diagnoses(make_bench(2))
    assert {it.level for it in found.values()} == {DiagnosisLevel.STALE}
    assert [*found] == [BUS, IMPEDANCE, "joint: j0", "joint: j1"]


def test_every_drive_error_is_reported_at_its_joint_with_code_and_fix(bench) -> None:
    codes = (0xA000, 0x8500, 0x8400, 0x8130)
    for slave, code in enumerate(codes):
        bench.control.drive_error(slave, code)
    bench.tick(6)
    found = diagnoses(bench)
    assert at_fault(found) == {"j0", "j1", "j2", "j3"}
    for slave, code in enumerate(codes):
        joint = found[f"joint: j{slave}"]
        assert joint.values["statusword"] == "4616 (0x1208)"
        assert joint.values["error code"] == f"0x{code:04X}"
        assert joint.values["error history"].startswith(f"0x{code:04X}")
        assert joint.codes == (f"DRIVE_ERROR_{code:04X}", "DRIVE_FAULT")


def test_lost_drives_are_reported_at_their_joints_with_a_fix(bench) -> None:
    for cut, joints in ((1, {"j2", "j3"}), (-1, {"j0", "j1", "j2", "j3"})):
        bench.control.cut(cut)
        bench.tick(6)
        found = diagnoses(bench)
        assert at_fault(found) == joints
        assert found[BUS].level is ERROR
        assert found[BUS].codes


def test_drives_that_do_not_answer_do_not_count_as_in_operation(bench) -> None:
    bench.control.cut(1)
    bench.tick(6)
    found = diagnoses(bench)
    assert found[BUS].values["drives in operation"] == "2 of 4"
    assert found["joint: j1"].values["in operation"] == "yes"
    assert found["joint: j2"].values["in operation"] == "no"
    bench.control.cut(-1)
    bench.tick(6)
    found = diagnoses(bench)
    assert found[BUS].values["slaves in OP"] == "not known"
    assert found[BUS].values["drives in operation"] == "not known"
    joint = found["joint: j1"].values
    assert (joint["AL state"], joint["in operation"]) == ("not known", "not known")


def test_drives_without_clock_or_power_are_reported_at_their_joints_with_a_fix(bench) -> None:
    bench.control.dc_off(1)
    bench.control.power_cycle(3)
    bench.tick(6)
    assert at_fault(diagnoses(bench)) == {"j1", "j3"}
    bench.control.power_off(2)
    bench.tick(6)
    assert at_fault(diagnoses(bench)) == {"j1", "j2", "j3"}


def test_a_slave_that_left_op_is_reported_with_its_al_status(bench) -> None:
    bench.system._master.request_slave_state(2, 4)
    bench.tick(4)
    found = diagnoses(bench)
    assert at_fault(found) == {"j2"}
    assert found["joint: j2"].values["AL state"].startswith("SAFEOP")
    assert found[BUS].values["slaves in OP"] == "3 of 4"


def test_single_lost_frames_are_a_warning_until_the_next_report(bench) -> None:
    for lose in (
        lambda: bench.control.drop_next(1),
        lambda: bench.control.late_next(1, 0.015),
    ):
        lose()
        bench.tick(5)
        found = diagnoses(bench)
        assert at_fault(found) == set()
        assert found[BUS].level is WARN
        assert found[BUS].codes
        bench.tick(5)
        assert diagnoses(bench)[BUS].level is OK


def test_frames_that_are_spoilt_again_and_again_are_an_error_of_the_bus_with_a_fix(bench) -> None:
    for spoil in (
        bench.control.miscount,
        bench.control.damage,
        lambda probability: bench.control.late(probability, 0.03),
    ):
        spoil(1.0)
        bench.tick(4)
        found = diagnoses(bench)[BUS]
        assert found.level is ERROR
        assert found.codes
        spoil(0.0)
        bench.tick(4)


def test_the_mailbox_messages_of_drives_are_counted_by_outcome(bench) -> None:
    bench.control.emergency(1, 0x8400)
    reading = [SdoBatch((SdoObject(slave, 0x6041, 0),), write=False) for slave in (1, 2)]
    bench.finish(bench.system.submit(reading[0]))
    bench.control.freeze_firmware(2)
    (result,) = bench.finish(bench.system.submit(reading[1]))
    assert result.status is SdoStatus.TIMED_OUT
    bench.tick()
    values = diagnoses(bench)[BUS].values
    assert (values["emergency messages"], values["SDO objects timed out"]) == ("1", "1")


def test_an_emergency_message_does_not_stay_with_a_drive_in_operation(bench) -> None:
    bench.control.emergency(1, 0x8400)
    bench.finish(bench.system.submit(SdoBatch((SdoObject(1, 0x6041, 0),), write=False)))
    bench.tick()
    found = diagnoses(bench)["joint: j1"]
    assert (found.message, found.codes) == ("statusword 5687 (0x1637): operation enabled", ())
    assert diagnoses(bench)[BUS].values["emergency messages"] == "1"


def test_every_cause_of_unconfirmed_gains_is_reported_with_its_reason_code(bench) -> None:
    registers = bench.system._impedance.report.registers
    bench.state_impedance(registers, gate_open=False, status_message="waiting")
    closed = diagnoses(bench)[IMPEDANCE]
    assert (closed.level, closed.values["gate for SDO writes"]) == (WARN, "closed")
    bench.system.mode_changed(Mode.DAMPING, 2)
    bench.state_impedance(registers, confirmed=False, status_message="writing")
    unconfirmed = diagnoses(bench)[IMPEDANCE]
    assert unconfirmed.level is WARN
    assert "not confirmed for DAMPING: writing" in unconfirmed.message
    bench.tick(20)
    silent = diagnoses(bench)[IMPEDANCE]
    assert silent.level is ERROR
    for found in (closed, unconfirmed, silent):
        assert found.codes
