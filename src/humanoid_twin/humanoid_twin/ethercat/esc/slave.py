"""One slave of the ring: its ESC, its EtherCAT stack and its firmware."""

from collections.abc import Callable
from dataclasses import replace

from humanoid_devices_erob.protocol import objects
from humanoid_devices_erob.protocol.coe import Emergency, Service, service_of
from humanoid_twin.clock import NEVER, SimulatedTime
from humanoid_twin.ethercat.coe.coe import CompletedAccess, SdoServer
from humanoid_twin.ethercat.coe.communication import Identification, add_sync_type
from humanoid_twin.ethercat.coe.mailbox import Mailbox
from humanoid_twin.ethercat.coe.sdo_information import SdoInformation
from humanoid_twin.ethercat.esc import registers as reg
from humanoid_twin.ethercat.esc.al import Al, AlStatusCode, Readiness, requested
from humanoid_twin.ethercat.esc.dc import DistributedClock, SyncSupervision
from humanoid_twin.ethercat.esc.esc import Esc
from humanoid_twin.ethercat.esc.process_data import ProcessData
from humanoid_twin.ethercat.esc.sii import Eeprom, build_sii
from humanoid_twin.ethercat.esc.sync_manager import MAILBOX_IN, MAILBOX_OUT, SyncManager, Watchdog
from humanoid_twin.ethercat.firmware import AlState, Firmware
from humanoid_twin.ethercat.log import Note, access_detail, request_detail
from humanoid_twin.ethercat.parameters import Identity, SlaveParameters

_ESC_TYPE = 0x11  # ET1100
_PORTS = 0x0F  # ports 0 and 1 in use
_FEATURES = 0x000C  # distributed clocks, 64 bits
_PDI_MICROCONTROLLER = 0x05


class Slave:
    """The ring's interface to a slave: accesses by `esc`, time by `tick` and `sync0`."""

    def __init__(
        self,
        firmware: Firmware,
        parameters: SlaveParameters,
        simulated_time: SimulatedTime,
        note: Note,
    ) -> None:
        """`note` gets the events for the ring's log."""
        self.on_change: Callable[[], None] = lambda: (
            None
        )  # called after a change of power, AL state or SYNC0, and of `frozen`
        self.firmware = firmware
        self.powered, self.frozen = True, False
        self.mailbox_requests = 0
        self._parameters, self._simulated_time, self._note = parameters, simulated_time, note
        self.esc = Esc()
        self.eeprom = Eeprom(self.esc, build_sii(parameters))
        self.watchdog = Watchdog(self.esc)
        self.clock = DistributedClock(
            self.esc, parameters.clocks, simulated_time, self._sync_switched
        )
        self.supervision = SyncSupervision(parameters.clocks)
        self.identification = Identification(firmware.dictionary, parameters.identity)
        add_sync_type(firmware.dictionary, parameters.sync_type, lambda: self.clock.fires)
        lines = parameters.entries_per_pdo
        self.process = ProcessData(self.esc, simulated_time, firmware.dictionary, lines)
        self.sdo = SdoServer(firmware.dictionary, self._accessed)
        self.mailbox = Mailbox(self.esc, simulated_time, self._serve, self._on_request)
        self.esc.on(reg.AL_CONTROL, 2, after_write=lambda _address, _data: self._requested())
        self.esc.on(reg.AL_STATUS, 6, before_read=lambda _address, _length: self._settle())
        self._start()

    @property
    def al(self) -> Al:
        """The present AL status."""
        return self._al

    def power(self, on: bool) -> None:
        """Switch power on or off; volatile state is lost either way."""
        self.esc.clear()
        for unit in (self.eeprom, self.watchdog, self.clock, self.process):
            unit.power_up()
        self.supervision.errors = 0
        self.powered, self.frozen = on, False
        self.firmware.power_cycle()
        self._start()
        self.on_change()

    def freeze(self, frozen: bool) -> None:
        """Stop the firmware, or run it again; the ESC keeps running."""
        self.frozen = frozen
        if frozen:
            self.mailbox.running = False
        elif self._al.state >= AlState.PREOP:
            self.mailbox.resume()
        self.on_change()

    def identify(self, identity: Identity) -> None:
        """Change the identity, in the EEPROM too."""
        self.identification.identity = identity
        self.eeprom.content[:] = build_sii(replace(self._parameters, identity=identity))

    def fault(self, reason: str) -> None:
        """Raise the drive's EtherCAT communication error."""
        self._note("fault", {"reason": reason})
        self.firmware.communication_fault(reason)
        self.process.sample()

    def emergency(self, code: int) -> None:
        """Send an emergency message."""
        register = self.firmware.dictionary.read(objects.ERROR_REGISTER, 0)[0]
        self.mailbox.post(Emergency(code, register).encode())

    @property
    def running(self) -> bool:
        """True if the firmware runs."""
        return self.powered and not self.frozen

    @property
    def due(self) -> float:
        """Time [ns] from which `tick` has work to do, unless a frame or `on_change` comes first."""
        if not self.running:
            return NEVER
        if not self.clock.active:
            return 0
        due = self.mailbox.due
        if self._pending:
            due = min(due, self._pending[0])
        if self._al.state == AlState.OP:
            due = min(due, self.watchdog.due(self.process.output_time))
        return due

    def tick(self) -> None:
        """Advance to the present time, after the firmware's step."""
        if not self.running:
            return
        self._settle()
        self.mailbox.work()
        if self._al.state == AlState.OP:
            self._check_watchdog()
        if not self.clock.active:
            self.process.sample()

    def sync0(self) -> None:
        """Fire SYNC0: outputs to the firmware, inputs from it."""
        self.clock.event_done()
        process, state = self.process, self._al.state
        fresh, process.fresh = process.fresh, False
        if self.frozen:
            return
        if state == AlState.OP:
            process.latch()
            if self.supervision.event(fresh=fresh):
                self.fault("SYNC0 without new process data, again and again")
        process.sample()

    # The AL state machine.

    def _start(self) -> None:
        esc = self.esc
        esc.put(reg.ESC_TYPE, 1, _ESC_TYPE)
        esc.put(reg.PORT_DESCRIPTOR, 1, _PORTS)
        esc.put(reg.FEATURES, 2, _FEATURES)
        esc.put(reg.PDI_TYPE, 1, _PDI_MICROCONTROLLER)
        self._al = Al()
        self._pending: tuple[int, Al] | None = None  # ring time [ns] when it takes effect
        self._activating = False
        self.mailbox.running = False
        self.mailbox.reset()
        self.sdo.reset()
        self._show(self._al)

    def _requested(self) -> None:
        if self.frozen:
            return
        self._settle()
        wanted = requested(self._al, self.esc.get(reg.AL_CONTROL, 2), self._readiness())
        if wanted.state > self._al.state:
            if (
                not self._pending or self._pending[1] != wanted
            ):  # else the transition is in progress
                delay = round(self._parameters.transition_seconds * 1e9)
                self._pending = self._simulated_time.now + delay, wanted
            self._settle()
        else:
            self._pending = None
            self._enter(wanted)

    def _settle(self) -> bool:
        if self._pending and self._simulated_time.now >= self._pending[0] and not self.frozen:
            wanted, self._pending = self._pending[1], None
            self._enter(wanted)
        return True

    def _readiness(self) -> Readiness:
        parameters, clock = self._parameters, self.clock
        mailboxes = (
            SyncManager(self.esc, MAILBOX_OUT).is_at(parameters.mailbox_out)
            and SyncManager(self.esc, MAILBOX_IN).is_at(parameters.mailbox_in)
        )  # fmt: skip
        return Readiness(
            mailbox=mailboxes,
            outputs=self.process.outputs_fit,
            inputs=self.process.inputs_fit,
            clock=clock.active,
            cycle=clock.cycle_valid,
            sync=clock.fires,
            fed=self.process.fed,
        )

    def _enter(self, al: Al) -> None:
        before, self._al = self._al, al
        self._show(al)
        if al != before:
            self._note("state", {"state": int(al.state), "error": al.error, "code": int(al.code)})
        if al.state == before.state:
            return
        self._prepare(before.state, al.state)
        self.on_change()
        self.firmware.al_state_changed(al.state)
        if al.state == AlState.OP and not self.clock.locked:
            self.fault("OP before the distributed clock had converged")
        self.process.sample()

    def _prepare(self, before: AlState, state: AlState) -> None:
        process = self.process
        process.writable = state == AlState.PREOP
        if AlState.INIT in (before, state):
            self.mailbox.reset()
            self.sdo.reset()
            self.mailbox.running = state != AlState.INIT
        if state in (AlState.OP, AlState.INIT):
            self._activating = False
        if state == AlState.OP:
            self.supervision.errors = 0
            process.fresh = True
            process.output_time = self._simulated_time.now
        elif before < AlState.SAFEOP <= state:
            process.start()
        elif state < AlState.SAFEOP:
            process.enabled = False

    def _show(self, al: Al) -> None:
        self.esc.put(reg.AL_STATUS, 2, al.status)
        self.esc.put(reg.AL_STATUS_CODE, 2, al.code)

    # Callbacks of the units.

    def _check_watchdog(self) -> None:
        if self.watchdog.expired(self._simulated_time.now - self.process.output_time):
            self.firmware.outputs_lost()
            self._enter(Al(AlState.SAFEOP, True, AlStatusCode.WATCHDOG))

    def _sync_switched(self, active: bool) -> None:
        self.on_change()
        self._activating = active and self._al.state in (AlState.PREOP, AlState.SAFEOP)
        if not active and self._al.state == AlState.OP:
            self.fault("distributed clock switched off in OP")

    def _on_request(self, payload: bytes) -> None:
        self.mailbox_requests += 1
        self._note("request", request_detail(payload))
        if self._activating:
            self.fault("mailbox request during the activation of distributed clocks")

    def _serve(self, payload: bytes, capacity: int) -> list[bytes]:
        if service_of(payload) == Service.SDO_INFORMATION:
            return SdoInformation(self.firmware.dictionary).answer(payload, capacity)
        answer = self.sdo.answer(payload, capacity)
        return [] if answer is None else [answer]

    def _accessed(self, access: CompletedAccess) -> None:
        self._note("write" if access.write else "read", access_detail(access))
