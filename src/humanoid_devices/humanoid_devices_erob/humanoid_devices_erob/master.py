"""The EtherCAT master: pysoem behind typed calls and errors. `stale_frames` looks after its socket.

pysoem tolerates one thread at a time, and so does this: whoever holds the master does all of its
I/O. Slaves are numbered by their place on the ring, from 0.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Final

import pysoem

from humanoid_devices_erob.al_state import AlState, AlStatus
from humanoid_devices_erob.al_told import al_status
from humanoid_devices_erob.clocks import (
    SYNC_UNIT,
    TIME_DIFFERENCE,
    clocks_astray,
    sync0_is_on,
    time_difference,
)
from humanoid_devices_erob.interface import check_interface, check_rights, claim_interface
from humanoid_devices_erob.interface_flags import PromiscuousMode
from humanoid_devices_erob.mail_frames import MailFrames
from humanoid_devices_erob.mailbox_port import Access, MailboxLayout
from humanoid_devices_erob.ring_errors import BringUpError, InterfaceError
from humanoid_devices_erob.settings import Identity
from humanoid_devices_erob.stale_frames import StaleFrames
from humanoid_devices_erob.wire.pdo import RX_BYTES, TX_BYTES

# Of SOEM, in µs: how long an answer is waited for. While the ring is set up, long enough that what
# SOEM does three times is done more than once; in operation nobody can wait for a lost frame.
_PATIENT_US: Final = 20_000
_PROMPT_US: Final = 2_000
_MOMENT_US: Final = 300
_CLOCK_ATTEMPTS: Final = 6  # to set all clocks without losing a frame
# For room in a mailbox, and for what comes out of it: SOEM's 20 ms allow for no lost frame, its
# 0.7 s for no slow drive.
_MAILBOX_US: Final = 200_000
_ANSWER_US: Final = 2_500_000
_SYNC_MANAGERS: Final = 0x0800  # ETG.1000.4; SM0 writes to the slave's mailbox, SM1 reads from it
_SYNC_MANAGER_BYTES: Final = 8
_AL_STATUS: Final = 0x0130, 2  # register and length (ETG.1000.6)
_NOT_OPEN: Final = "the EtherCAT master is not open"


class EthercatMaster:
    """One ring. Implements MailboxPort for the mailbox engine."""

    def __init__(self, patience: float = _PROMPT_US * 1e-6) -> None:
        """`patience`: [s] an exchange's answer is waited for."""
        self._patience = patience
        self._master: pysoem.Master | None = None
        self._held = ExitStack()  # of the interface, until the master is closed
        self._stale: StaleFrames | None = None
        self._mail: MailFrames | None = None
        self._slaves: list[pysoem.CdefSlave] = []
        self.all_in_op = False  # what all slaves said along with the latest exchange

    def open(self, interface: str) -> None:
        """Take the network interface. Raises InterfaceError that says what to do."""
        check_rights()
        check_interface(interface)
        self._held.enter_context(claim_interface(interface))
        self._held.callback(PromiscuousMode(interface).restore)
        pysoem.settings.timeouts.ret = _PATIENT_US  # one for the whole process
        pysoem.settings.timeouts.tx_mailbox = _MAILBOX_US
        pysoem.settings.timeouts.rx_mailbox = _ANSWER_US
        master = pysoem.Master()
        try:
            master.open(interface)
        except ConnectionError as error:
            self.close()
            raise InterfaceError(f"network interface '{interface}': {error}") from error
        self._master = master
        self._stale = StaleFrames(interface)
        self._mail = MailFrames(self._stale, _PROMPT_US * 1e-6)

    def close(self) -> None:
        """Give the interface back; nothing happens if it isn't open."""
        master, self._master = self._master, None
        stale, self._stale, self._mail = self._stale, None, None
        self._slaves = []
        if stale is not None:
            stale.close()
        if master is not None:
            master.close()
        self._held.close()

    # Set-up, in this order.

    def scan(self) -> list[Identity]:
        """Find all slaves, give them addresses and ask them to go to PREOP; who they are."""
        master = self._opened()
        master.config_init(release_gil=True)
        self._slaves = list(master.slaves)
        return [Identity(slave.man, slave.id) for slave in self._slaves]

    def mailbox_layouts(self) -> list[MailboxLayout]:
        """Where the mailboxes are, as configured in the slaves. Raises BringUpError."""
        return [self._mailbox_layout(slave) for slave in range(len(self._slaves))]

    def map_process_data(self) -> None:
        """Configure sync managers and FMMUs from the slaves' PDO mapping, in PREOP.

        Raises BringUpError if a slave's process data isn't as large as it must be.
        """
        master = self._opened()
        master.manual_state_change = True
        try:
            master.config_map()
        except pysoem.ConfigMapError as error:
            raise BringUpError(
                f"the slaves' PDO mapping can't be read: {error.error_list}"
            ) from error
        for position, slave in enumerate(self._slaves):
            found = len(slave.output), len(slave.input)
            # pysoem writes outputs without looking at lengths: into the next slave's if need be.
            if found != (RX_BYTES, TX_BYTES):
                raise BringUpError(
                    f"slave {position} maps {found[0]} bytes of outputs and {found[1]} of inputs, "
                    f"expected {RX_BYTES} and {TX_BYTES}"
                )

    def measure_delays(self) -> None:
        """Find the propagation delays and set the clocks' offsets. Raises BringUpError.

        SOEM doesn't notice a frame that gets lost meanwhile, so what it has set is looked at.
        """
        for _ in range(_CLOCK_ATTEMPTS):
            if not self._opened().config_dc():
                raise BringUpError("no slave with a distributed clock; drives work only with one")
            astray = clocks_astray(len(self._slaves), self._read_patiently)
            if not astray:
                pysoem.settings.timeouts.ret = _PROMPT_US
                return
        raise BringUpError(f"clocks of slaves {astray} can't be set: the time they show is wrong")

    def start_sync0(self, slave: int, period_ns: int) -> bool:
        """Have the slave fire SYNC0 at multiples of `period_ns`, from about 0.1 s later on.

        Whether it will: the datagrams that order it may be lost.
        """
        self._slaves[slave].dc_sync(True, period_ns)
        data = self.read(slave, *SYNC_UNIT)
        return data is not None and sync0_is_on(data, period_ns, self.dc_time)

    def stop_sync0(self, slave: int) -> None:
        """No more SYNC0."""
        self._slaves[slave].dc_sync(False, 0)

    # States.

    def request_state(self, state: AlState) -> None:
        """Ask all slaves to go to `state`."""
        master = self._opened()
        master.state = int(state)
        master.write_state()

    def request_slave_state(self, slave: int, state: AlState, *, acknowledge: bool = False) -> None:
        """Ask one slave, and acknowledge the error it shows."""
        handle = self._slaves[slave]
        handle.state = int(state) | (pysoem.STATE_ACK if acknowledge else 0)
        handle.write_state()

    def states(self) -> list[AlStatus]:
        """Of every slave, now: one datagram if all agree, else one more."""
        self._opened().read_state()
        return [al_status(slave.state, slave.al_status) for slave in self._slaves]

    # Process data.

    @property
    def expected_working_counter(self) -> int:
        """Of an exchange that reached every slave."""
        return int(self._opened().expected_wkc)

    @property
    def dc_time(self) -> int:
        """Of the reference clock when the latest frame passed it [ns]."""
        return int(self._opened().dc_time)

    def exchange(self, outputs: bytes) -> tuple[int, bytes]:
        """Send the outputs of all slaves, RX_BYTES each; working counter and inputs.

        Without an answer the counter is -1. Inputs of slaves that didn't take part are old.
        """
        master = self._opened()
        if len(outputs) != len(self._slaves) * RX_BYTES:
            raise ValueError(f"{len(outputs)} bytes of outputs for {len(self._slaves)} slaves")
        for position, slave in enumerate(self._slaves):
            slave.output = outputs[position * RX_BYTES : (position + 1) * RX_BYTES]
        master.send_processdata()
        line, mail = self._line(), self._mail
        assert mail is not None  # like the line
        asked = mail.ask_everyone(*_AL_STATUS)  # right behind: no second wait for it
        came = line.wait(self._patience)
        with line.not_waiting():
            # If it was a late answer to something else, the right one may need a moment more.
            counter = line.judged(master.receive_processdata(_MOMENT_US if came else 0))
        states, count = mail.everyone(asked, _MOMENT_US * 1e-6) if came else (b"", 0)
        self.all_in_op = count == len(self._slaves) and states[0] == AlState.OP
        return counter, b"".join([slave.input for slave in self._slaves])

    # Datagrams to single slaves: MailboxPort, and the clocks.

    def access(self, accesses: Sequence[Access]) -> list[bytes | None]:
        """See MailboxPort."""
        if self._mail is None:
            raise InterfaceError(_NOT_OPEN)
        return self._mail.access(accesses)

    def read(self, slave: int, address: int, length: int) -> bytes | None:
        """What is there; None without an answer."""
        return self.access([Access(slave, address, length)])[0]

    def clock_difference(self, slave: int) -> int | None:
        """How far the slave's clock is from the reference [ns]; None if it doesn't answer."""
        data = self.read(slave, *TIME_DIFFERENCE)
        return None if data is None else time_difference(data)

    def _opened(self) -> pysoem.Master:
        """The master, about to ask something: answers to older questions are thrown away."""
        self._line().drop()
        assert self._master is not None  # like the line
        return self._master

    def _line(self) -> StaleFrames:
        if self._stale is None:
            raise InterfaceError(_NOT_OPEN)
        return self._stale

    def _read_patiently(self, slave: int, address: int, length: int) -> bytes:
        self._line().drop()
        try:
            return bytes(
                self._slaves[slave]._fprd(address, length, 3 * _PATIENT_US)  # noqa: SLF001
            )
        except pysoem.WkcError as error:
            raise BringUpError(f"slave {slave} does not answer") from error

    def _mailbox_layout(self, slave: int) -> MailboxLayout:
        data = self._read_patiently(slave, _SYNC_MANAGERS, 2 * _SYNC_MANAGER_BYTES)
        to_slave, to_slave_size = struct.unpack_from("<HH", data)
        from_slave, from_slave_size = struct.unpack_from("<HH", data, _SYNC_MANAGER_BYTES)
        if not to_slave_size or not from_slave_size:
            raise BringUpError(f"slave {slave} has no mailbox")
        return MailboxLayout(to_slave, to_slave_size, from_slave, from_slave_size)
