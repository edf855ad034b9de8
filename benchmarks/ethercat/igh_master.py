"""An EtherCAT master with the habits that made the documented set-up slow, for comparison.

It drives the same virtual drives as our master, on the ring's stepped clock, without waits in wall
time.
The habits, and the documented times they explain (hybrid actuation page of Prime):

* slaves are activated one after another. Each takes `STAGING` for its configuration, then DC drift
  compensation has to converge, which is bound to cycles: about 7 s per slave at 50 Hz (70 s for
  ten), 1.36 s at 1 kHz (13.6 s);
* each slave that joins interrupts the domain: for some cycles no frame is sent, and slaves already
  in OP get no outputs. Assumed: `JOIN_CYCLES` and one more cycle for each slave in OP already. At
  50 Hz the interruption outlasts the sync managers' watchdog (100 ms) from the fourth slave on:
  these leave OP with 0xA000, and the master recovers them. `JOIN_CYCLES` is fitted to the
  documented 7 fault/recover cycles at 50 Hz. That there is none at 1 kHz is not fitted;
* an SDO transfer advances by one step per cycle: 6 cycles, 120 ms, per object at 50 Hz; 30
  objects 3.6 s;
* with one worker per slave the transfers run side by side (0.46 s); ten command-line programs that
  start at once take `CONTENTION` cycles longer than one (fitted: the documents give the sum only).
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Final

import pysoem

from benchmarks.ethercat.locked_sdo import FRAME_TIMEOUT, pdo_setup
from humanoid_devices_erob.protocol import cia402, pdo
from humanoid_devices_erob.protocol.coe import DownloadResponse, ExpeditedDownload, decode_response
from humanoid_devices_erob.protocol.mailbox import decode_mailbox, encode_mailbox
from humanoid_twin.ethercat.control import RingControl

STAGING: Final = 1.06  # [s] per slave, from 70 s at 50 Hz and 13.6 s at 1 kHz for ten slaves
CONTENTION: Final = 2  # cycles
JOIN_CYCLES: Final = 2  # without frames when the first slave joins; assumed
COMMUNICATION_ERROR: Final = 0xA000  # in 0x603F: actuator documents
SYNC_FREQUENCY: Final = 50.0  # [Hz] of SYNC0, the control frequency
DC_LIMIT: Final = 1000  # [ns] of system time difference a slave may go to OP with
DC_DIFFERENCE: Final = 0x092C  # register (ET1100 datasheet): sign and magnitude
SEND_MAILBOX: Final = 0x1000, 128  # the slaves' SM0 and SM1, as their SII says
RECEIVE_MAILBOX: Final = 0x1080, 128
MAILBOX_STATUS: Final = 0x080D  # register of SM1, bit 3: an answer is waiting
SPEED_COUNTER_START: Final = 0x0930  # register: a write restarts the clock's control loop
NEXT_CONTROLWORD: Final = {
    cia402.DriveState.FAULT: cia402.FAULT_RESET,
    cia402.DriveState.READY_TO_SWITCH_ON: cia402.SWITCH_ON,
    cia402.DriveState.SWITCHED_ON: cia402.ENABLE,
    cia402.DriveState.OPERATION_ENABLED: cia402.ENABLE,
}
GIVE_UP: Final = 2000  # cycles

# The steps of one transfer, one per cycle.
Transfer = Generator[None, None, None]


class StagedMaster:
    """Brings slaves up one after another and writes SDOs one step per cycle."""

    def __init__(self, interface: str, control: RingControl, frequency: float) -> None:
        self._control = control
        self._period = 1.0 / frequency
        pysoem.settings.timeouts.ret = FRAME_TIMEOUT
        self._master = pysoem.Master()
        self._master.open(interface)
        self._counters: dict[int, int] = {}
        self.recoveries = 0  # times that drives faulted with 0xA000 and were recovered

    def close(self) -> None:
        """Leave the slaves in INIT."""
        self._master.state = pysoem.INIT_STATE
        self._master.write_state()
        self._master.close()

    def set_frequency(self, frequency: float) -> None:
        """Set the frequency of the cycle [Hz]."""
        self._period = 1.0 / frequency

    def bring_up(self) -> float:
        """Bring every slave to operation enabled. Return the ring's time [s]."""
        begun = self._control.time()
        self._configure()
        for joined, slave in enumerate(self._master.slaves):
            self._cycle_for(STAGING)
            _write(slave, SPEED_COUNTER_START, (0x1000).to_bytes(2, "little"))
            slave.dc_sync(True, round(1e9 / SYNC_FREQUENCY))
            self._request(slave, pysoem.SAFEOP_STATE)
            self._cycle_until(lambda slave=slave: self._difference(slave) <= DC_LIMIT)
            self._control.advance((JOIN_CYCLES + joined) * self._period)
            self._request(slave, pysoem.OP_STATE)
            self._enable([slave])
            self._recover()
        return self._control.time() - begun

    def write(self, batches: Sequence[Sequence[tuple[int, int, int]]], *, parallel: bool) -> float:
        """Write `batches[k]` of (index, subindex, INT32) to slave k. Return the ring's time [s]."""
        begun = self._control.time()
        workers = [self._worker(k, batch, parallel) for k, batch in enumerate(batches)]
        if parallel:
            while workers:
                workers = [worker for worker in workers if next(worker, _DONE) is not _DONE]
                self._cycle()
        else:
            for worker in workers:
                for _ in worker:
                    self._cycle()
        return self._control.time() - begun

    def _configure(self) -> None:
        master = self._master
        if master.config_init() <= 0:
            raise RuntimeError("the ring does not answer")
        for slave in master.slaves:
            slave.config_func = self._map
        master.manual_state_change = True
        master.config_map()
        master.config_dc()

    def _map(self, position: int) -> None:
        pdo_setup(self._master.slaves[position])

    def _cycle(self) -> None:
        self._master.send_processdata()
        self._master.receive_processdata(FRAME_TIMEOUT)
        self._control.advance(self._period)

    def _cycle_for(self, seconds: float) -> None:
        for _ in range(round(seconds / self._period)):
            self._cycle()

    def _cycle_until(self, reached: object) -> None:
        assert callable(reached)
        for _ in range(GIVE_UP):
            self._cycle()
            if reached():
                return
        raise RuntimeError(f"not reached within {GIVE_UP} cycles")

    def _request(self, slave: pysoem.CdefSlave, state: int) -> None:
        slave.state = state
        slave.write_state()
        self._cycle_until(lambda: slave.state_check(state, 1000) == state)

    def _enable(self, slaves: Sequence[pysoem.CdefSlave]) -> None:
        def walk() -> bool:
            states = []
            for slave in slaves:
                statusword, position, _, _ = pdo.TX_STRUCT.unpack(slave.input)
                states.append(cia402.decode_state(statusword))
                controlword = NEXT_CONTROLWORD.get(states[-1], cia402.SHUTDOWN)
                slave.output = pdo.RX_STRUCT.pack(controlword, position, cia402.CSP)
            return set(states) == {cia402.DriveState.OPERATION_ENABLED}

        self._cycle_until(walk)

    def _recover(self) -> None:
        """Bring drives with 0xA000 back to operation enabled."""
        drives = zip(self._master.slaves, self._control.drives(), strict=True)
        fallen = [slave for slave, drive in drives if drive["error"] == COMMUNICATION_ERROR]
        if not fallen:
            return
        self.recoveries += 1
        for slave in fallen:
            slave.state = pysoem.SAFEOP_STATE + pysoem.STATE_ACK
            slave.write_state()
        for slave in fallen:
            self._request(slave, pysoem.OP_STATE)
        self._enable(fallen)

    def _difference(self, slave: pysoem.CdefSlave) -> int:
        return int.from_bytes(_read(slave, DC_DIFFERENCE, 4), "little") & 0x7FFF_FFFF

    def _worker(
        self, number: int, batch: Sequence[tuple[int, int, int]], parallel: bool
    ) -> Transfer:
        slave = self._master.slaves[number]
        for place, (index, subindex, value) in enumerate(batch):
            # The last starts are spread: the first programs have ended by then.
            last = place == len(batch) - 1
            waits = round(CONTENTION * number / 9) if last else CONTENTION
            for _ in range(waits if parallel else 0):
                yield
            data = value.to_bytes(4, "little", signed=True)
            yield from self._transfer(slave, number, ExpeditedDownload(index, subindex, data))

    def _transfer(
        self, slave: pysoem.CdefSlave, number: int, request: ExpeditedDownload
    ) -> Transfer:
        """Transfer one SDO in six steps of one cycle each: from its request to its result."""
        yield
        counter = self._counters[number] = self._counters.get(number, 0) % 7 + 1
        message = encode_mailbox(request.encode(), counter=counter)
        _write(slave, SEND_MAILBOX[0], message.ljust(SEND_MAILBOX[1], b"\0"))
        yield
        while not _read(slave, MAILBOX_STATUS, 1)[0] & 0x08:
            yield
        yield
        _, payload = decode_mailbox(_read(slave, *RECEIVE_MAILBOX))
        yield
        if not isinstance(decode_response(payload), DownloadResponse):
            raise RuntimeError(f"slave {number} refused {request}")
        yield
        yield


def _read(slave: pysoem.CdefSlave, address: int, length: int) -> bytes:
    return bytes(slave._fprd(address, length, FRAME_TIMEOUT))  # noqa: SLF001 - pysoem has no public datagrams


def _write(slave: pysoem.CdefSlave, address: int, data: bytes) -> None:
    slave._fpwr(address, data, FRAME_TIMEOUT)  # noqa: SLF001


_DONE: Final = object()
