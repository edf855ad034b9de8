"""Diagnostics of the ring, its drives and their impedance."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from humanoid_control_common.rules.diagnosis import Diagnosis, DiagnosisLevel, yes_or_no
from humanoid_control_common.rules.reason_codes import (
    IMPEDANCE_MANAGER_SILENT,
    IMPEDANCE_MANAGER_UNHEARD,
    IMPEDANCE_NOT_CONFIRMED,
)
from humanoid_control_common.rules.reasons import ReasonCode
from humanoid_devices_erob import reason_codes
from humanoid_devices_erob.drive.drive_registers import BUS_WRITTEN
from humanoid_devices_erob.drive.error_codes import statusword_remarks
from humanoid_devices_erob.drive.gains import registers_to_gains
from humanoid_devices_erob.mailbox.sdo import SdoStatus
from humanoid_devices_erob.master.al_state import AlState, codes_of_slave
from humanoid_devices_erob.master.ring import Ring
from humanoid_devices_erob.operation.drive_impedance import MANAGER_SILENCE, DriveImpedance
from humanoid_devices_erob.operation.drive_monitor import LOST_EXCHANGES
from humanoid_devices_erob.operation.operation import Operation
from humanoid_devices_erob.reason_codes import (
    BAD_LINK,
    GATE_CLOSED,
    NO_FRAME_RETURNS,
)
from humanoid_devices_erob.settings import Settings

OK, WARN, ERROR = DiagnosisLevel.OK, DiagnosisLevel.WARN, DiagnosisLevel.ERROR
NOT_ACTIVE: Final = "not active"
UNKNOWN: Final = "not known"


class RingDiagnostics:
    """Called by one thread; reads the state of the loop's thread, one whole value at a time."""

    def __init__(self, settings: Settings, impedance: DriveImpedance) -> None:
        self._settings, self._impedance = settings, impedance
        self._lost = 0  # exchanges until the previous report

    def diagnose(self, ring: Ring | None, operation: Operation | None) -> list[Diagnosis]:
        """Return the diagnoses of bus, impedance and each drive, named after its joint."""
        settings = self._settings
        bus, impedance = f"bus: {settings.name}", f"impedance: {settings.name}"
        joints = [f"joint: {joint}" for joint in settings.joints]
        if ring is None or operation is None:
            stale = DiagnosisLevel.STALE
            names = [bus, impedance, *joints]
            return [Diagnosis(name, stale, NOT_ACTIVE, source=settings.name) for name in names]
        level, message, codes = self._judge_bus(ring, operation)
        values = dict(_bus_values(settings, ring, operation))
        return [
            Diagnosis(bus, level, message, values, settings.name, codes),
            self._impedance_diagnosis(impedance, ring.machine.clock()),
            *(self._joint_diagnosis(name, i, ring, operation) for i, name in enumerate(joints)),
        ]

    def _judge_bus(
        self, ring: Ring, operation: Operation
    ) -> tuple[DiagnosisLevel, str, tuple[str, ...]]:
        before, self._lost = self._lost, ring.lost_in_all
        problems = operation.monitor.ring_problems(ring)
        if problems:
            return ERROR, problems.text, problems.codes
        lost = self._lost - before
        if lost > 0:
            codes = (reason_codes.LOST_EXCHANGES.name,)
            return WARN, f"{lost} lost exchanges since the last report", codes
        return OK, f"{ring.image.count} drives on {self._settings.interface}", ()

    def _impedance_diagnosis(self, name: str, now: float) -> Diagnosis:
        impedance = self._impedance
        report = impedance.report
        values = {
            "mode": impedance.mode.name,
            "switch number": str(impedance.number),
            "confirmed": yes_or_no(impedance.confirmed),
        }
        if report is None:
            text = "no message from the impedance manager yet"
            codes = (IMPEDANCE_MANAGER_UNHEARD.name,)
            return Diagnosis(name, WARN, text, values, self._settings.name, codes)
        age = now - report.arrived
        values |= {
            "latest message of the impedance manager [ms ago]": f"{age * 1e3:.0f}",
            "gate for SDO writes": "open" if report.gate_open else "closed",
            "armed": yes_or_no(report.armed),
            "its message": report.status_message or "nothing",
        }
        level, message = OK, f"confirmed for {impedance.mode.name}"
        code: ReasonCode | None = None
        creeping = np.flatnonzero(~impedance.free).tolist()
        fed = [
            self._settings.joints[i] for i in creeping if impedance.drives[i].gate == BUS_WRITTEN
        ]
        if fed:
            values["velocity feed-forward 0x2382:03 not 0"] = ", ".join(fed)
        if age > MANAGER_SILENCE:
            level, code = ERROR, IMPEDANCE_MANAGER_SILENT
            message = f"the impedance manager is silent for {age:.1f} s"
        elif not report.gate_open:
            level, code = WARN, GATE_CLOSED
            message = f"the gate for SDO writes is closed: {report.status_message}"
        elif not impedance.confirmed:
            level, code = WARN, IMPEDANCE_NOT_CONFIRMED
            message = f"not confirmed for {impedance.mode.name}: {report.status_message}"
            if fed:
                message += f"; velocity feed-forward acts in {', '.join(fed)}: their targets creep"
        found = (code.name,) if code else ()
        return Diagnosis(name, level, message, values, self._settings.name, found)

    def _joint_diagnosis(
        self, name: str, joint: int, ring: Ring, operation: Operation
    ) -> Diagnosis:
        slave = int(self._settings.ring_position[joint])
        status = operation.states[slave]
        word = int(ring.image.statusword[slave])
        message = operation.monitor.describe(slave, ring)
        level = WARN if statusword_remarks(word) else OK
        reasons = operation.monitor.codes_of(slave, ring)
        silent = _is_silent(ring)
        in_op = status.state is AlState.OP and not status.error
        if not in_op:
            level, message = ERROR, f"{status}; before that {message}"
            reasons = (*(code.name for code in codes_of_slave(status)), *reasons)
        elif operation.monitor.faulty[slave]:
            level = ERROR
        elif silent:
            level, message = ERROR, f"no frame comes back; before that {message}"
            reasons = (NO_FRAME_RETURNS.name, *reasons)
        elif bad_link := operation.links.recent(slave):
            level, message = WARN, f"{message}; {bad_link}"
            reasons = (BAD_LINK.name, *reasons)
        ports = operation.links.of(slave)
        codes = operation.monitor.errors_of(slave)
        values = {
            "slave": str(slave),
            "AL state": UNKNOWN if silent else str(status),
            "statusword": f"{word} (0x{word:04X})",
            "error code": f"0x{codes[0]:04X}" if codes else "none read",
            "error history": ", ".join(f"0x{code:04X}" for code in codes[1:]) or "none read",
            "in operation": UNKNOWN if silent else yes_or_no(in_op and ring.enabled[slave]),
            **self._gains(joint),
            **{f"link errors port {i}": str(ports[i]) if ports else UNKNOWN for i in (0, 1)},
        }
        return Diagnosis(name, level, message, values, self._settings.name, reasons)

    def _gains(self, joint: int) -> dict[str, str]:
        drive = self._impedance.drives[joint]
        registers = drive.gains
        values = {"gate 0x2383": UNKNOWN if drive.gate is None else str(drive.gate)}
        if registers is None:
            return values | dict.fromkeys(_GAINS, UNKNOWN)
        stiffness, damping = registers_to_gains(
            registers.as_arrays(),
            torque_constant=self._settings.torque_constant[joint],
            gear=self._settings.gear[joint],
        )
        found = (
            registers.position_gain,
            registers.velocity_gain,
            registers.velocity_integral,
            registers.feed_forward if drive.has_feed_forward else "the drive has none",
            f"{stiffness:.3g}",
            f"{damping:.3g}",
        )
        return values | dict(zip(_GAINS, map(str, found), strict=True))


_GAINS: Final = (
    "pos_reg",
    "vel_reg",
    "vel_integral",
    "velocity feed-forward 0x2382:03",
    "stiffness by the registers [Nm/rad]",
    "damping by the registers [Nm s/rad]",
)


def _is_silent(ring: Ring) -> bool:
    """Return whether no frame comes back: the states of slaves and drives are old ones then."""
    return ring.lost >= LOST_EXCHANGES and not ring.answered


def _bus_values(settings: Settings, ring: Ring, operation: Operation) -> Iterator[tuple[str, str]]:
    in_op = [it.state is AlState.OP and not it.error for it in operation.states]
    silent, count = _is_silent(ring), ring.image.count
    yield "interface", settings.interface
    yield "slaves in OP", UNKNOWN if silent else f"{sum(in_op)} of {count}"
    # The statusword of a slave that does not answer is an old one.
    enabled = int((ring.enabled & in_op).sum())
    yield "drives in operation", UNKNOWN if silent else f"{enabled} of {count}"
    yield "working counter", f"{ring.working_counter} of {ring.expected_working_counter}"
    yield "lost exchanges", str(ring.lost_in_all)
    yield "lost in a row", str(ring.lost)
    silence = ring.machine.clock() - ring.last_answer
    yield "latest answer [ms]", f"{max(silence, 0.0) * 1e3:.1f}"
    yield "phase to SYNC0 off by [us]", f"{ring.lock.error * 1e6:.1f}"
    for status in SdoStatus:
        name = status.name.lower().replace("_", " ")
        yield f"SDO objects {name}", str(operation.mailed[status])
    yield "late SDO answers", str(ring.engine.late_answers)
    yield "emergency messages", str(operation.emergencies)
