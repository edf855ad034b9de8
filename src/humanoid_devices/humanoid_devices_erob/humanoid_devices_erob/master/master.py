"""The EtherCAT master: pysoem behind typed calls and errors; `raw_socket` handles its socket.

pysoem allows one thread at a time: the owner of the master does all of its I/O. Slaves are numbered
by their place on the ring, from 0.
"""

import struct
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Final

import pysoem

from humanoid_control_common.machine.linux import LINUX
from humanoid_devices_erob.errors import BringUpError, InterfaceError
from humanoid_devices_erob.mailbox.mailbox_port import Access, MailboxLayout
from humanoid_devices_erob.master.al_state import AlState, AlStatus, al_status
from humanoid_devices_erob.master.distributed_clock import (
    SYNC_UNIT,
    TIME_DIFFERENCE,
    sync0_is_on,
    time_difference,
    unset_clocks,
)
from humanoid_devices_erob.master.interface import (
    PromiscuousMode,
    check_interface,
    check_rights,
    claim_interface,
)
from humanoid_devices_erob.master.process_frame import FMMUS, ProcessFrame, misplaced
from humanoid_devices_erob.master.raw_socket import RawDatagrams, RawSocket
from humanoid_devices_erob.protocol.errors import ProtocolError
from humanoid_devices_erob.protocol.pdo import RX_BYTES, TX_BYTES
from humanoid_devices_erob.settings import Identity

# SOEM's time-outs for an answer [µs]. During set-up long enough that its three attempts happen; in
# operation the loop can't wait for a lost frame.
_LONG_TIMEOUT_US: Final = 20_000
_SHORT_TIMEOUT_US: Final = 2_000
_TIMEOUT: Final = 0.003  # [s] of an answer to frames of our own: a busy machine holds the ring up
_CLOCK_ATTEMPTS: Final = 6  # to set all clocks without losing a frame
# For room in a mailbox, and for its answer: SOEM's 20 ms tolerate no lost frame, its 0.7 s no slow
# drive.
_MAILBOX_US: Final = 200_000
_ANSWER_US: Final = 2_500_000
_SYNC_MANAGERS: Final = 0x0800  # ETG.1000.4; SM0 writes to the slave's mailbox, SM1 reads from it
_SYNC_MANAGER_BYTES: Final = 8
_NOT_OPEN: Final = "the EtherCAT master is not open"


class EthercatMaster:
    """One ring. Implements MailboxPort for the mailbox engine."""

    def __init__(self, timeout: float = _TIMEOUT) -> None:
        """`timeout`: [s] that the answer of an exchange may take."""
        self._timeout = timeout
        self._master: pysoem.Master | None = None
        self._held = ExitStack()  # claims on the interface, released when the master is closed
        self._socket: RawSocket | None = None
        self._datagrams: RawDatagrams | None = None
        self._slaves: list[pysoem.CdefSlave] = []
        self._process_frame = ProcessFrame(0)
        self._inputs = b""  # of all slaves, from the latest exchange
        self.dc_time = 0  # [ns] of the reference clock when the latest frame passed it
        self.all_in_op = False  # by the AL states read along with the latest exchange
        self.present = 0  # slaves that the frame of the latest exchange has passed

    def open(self, interface: str) -> None:
        """Claim the network interface. Raises InterfaceError with a remedy."""
        check_rights()
        check_interface(interface)
        self._held.enter_context(claim_interface(interface))
        self._held.callback(PromiscuousMode(interface).restore)
        pysoem.settings.timeouts.ret = _LONG_TIMEOUT_US  # process-wide
        pysoem.settings.timeouts.tx_mailbox = _MAILBOX_US
        pysoem.settings.timeouts.rx_mailbox = _ANSWER_US
        master = pysoem.Master()
        try:
            master.open(interface)
        except ConnectionError as error:
            self.close()
            raise InterfaceError(f"network interface '{interface}': {error}") from error
        self._master = master
        self._socket = RawSocket(interface)
        self._datagrams = RawDatagrams(self._socket, _TIMEOUT, LINUX)

    def close(self) -> None:
        """Release the interface; does nothing if it isn't open."""
        master, self._master = self._master, None
        stale, self._socket, self._datagrams = self._socket, None, None
        self._slaves = []
        if stale is not None:
            stale.close()
        if master is not None:
            master.close()
        self._held.close()

    # Set-up, in this order.

    def scan(self) -> list[Identity]:
        """Find all slaves, address them and request PREOP; return their identities."""
        master = self._opened()
        master.config_init(release_gil=True)
        self._slaves = list(master.slaves)
        return [Identity(slave.man, slave.id) for slave in self._slaves]

    def mailbox_layouts(self) -> list[MailboxLayout]:
        """Return the mailboxes as configured in the slaves, usable or not. Raises BringUpError."""
        return [self._mailbox_layout(slave) for slave in range(len(self._slaves))]

    def map_process_data(self) -> None:
        """Configure sync managers and FMMUs from the slaves' PDO mapping, in PREOP.

        Raises BringUpError if a slave's process data isn't as large as it must be.
        """
        master = self._opened()
        master.manual_state_change = True
        problem = ""
        try:
            master.config_map()
        except pysoem.ConfigMapError as error:
            # A drive's emergency message counts as an error, too: the sizes that were read decide.
            problem = f"; reading its PDO mapping failed: {error.error_list}"
        for position, slave in enumerate(self._slaves):
            found = len(slave.output), len(slave.input)
            # pysoem doesn't check lengths when it writes outputs, not even at the next slave's.
            if found != (RX_BYTES, TX_BYTES):
                raise BringUpError(
                    f"slave {position} maps {found[0]} bytes of outputs and {found[1]} of inputs, "
                    f"expected {RX_BYTES} and {TX_BYTES}{problem}"
                )
        count = len(self._slaves)
        try:
            self._process_frame = ProcessFrame(count)
        except ProtocolError as error:
            raise BringUpError(f"{count} slaves are too many for one frame: {error}") from error
        self._inputs = bytes(count * TX_BYTES)
        place = misplaced([self._read_with_long_timeout(slave, *FMMUS) for slave in range(count)])
        if place is not None:
            raise BringUpError(
                f"the FMMUs of slave {place} do not map its outputs and inputs to where the frame "
                "has them: another version of pysoem? requirements/ has the tested one"
            )

    def measure_delays(self) -> None:
        """Measure the propagation delays and set the clocks' offsets. Raises BringUpError.

        SOEM doesn't notice a frame that is lost meanwhile, so the result is checked.
        """
        for _ in range(_CLOCK_ATTEMPTS):
            if not self._opened().config_dc():
                raise BringUpError("no slave with a distributed clock; drives work only with one")
            unset = unset_clocks(len(self._slaves), self._read_with_long_timeout)
            if not unset:
                pysoem.settings.timeouts.ret = _SHORT_TIMEOUT_US
                return
        raise BringUpError(f"clocks of slaves {unset} can't be set: the time they show is wrong")

    def start_sync0(self, slave: int, period_ns: int) -> bool:
        """Start SYNC0 at multiples of `period_ns`, about 0.1 s from now.

        Return whether the slave confirms it: the datagrams may be lost.
        """
        self._slaves[slave].dc_sync(True, period_ns)
        data = self.read(slave, *SYNC_UNIT)
        return data is not None and sync0_is_on(data, period_ns, self.dc_time)

    def stop_sync0(self, slave: int) -> None:
        """Stop SYNC0 in a slave."""
        self._slaves[slave].dc_sync(False, 0)

    # States.

    def request_state(self, state: AlState) -> None:
        """Request `state` of all slaves."""
        master = self._opened()
        master.state = int(state)
        master.write_state()

    def request_slave_state(self, slave: int, state: AlState, *, acknowledge: bool = False) -> None:
        """Request a state of one slave, acknowledging the error it shows."""
        handle = self._slaves[slave]
        handle.state = int(state) | (pysoem.STATE_ACK if acknowledge else 0)
        handle.write_state()

    def states(self) -> list[AlStatus]:
        """Return the present state of every slave: one datagram if all agree, else one more."""
        self._opened().read_state()
        return [al_status(slave.state, slave.al_status) for slave in self._slaves]

    # Process data.

    @property
    def expected_working_counter(self) -> int:
        """Return the working counter of an exchange that reached every slave."""
        return int(self._opened().expected_wkc)

    def exchange(self, outputs: bytes) -> tuple[int, bytes]:
        """Send the outputs of all slaves, RX_BYTES each; return working counter and inputs.

        Without an answer the counter is -1. Inputs of slaves that didn't take part are old.
        """
        raw_socket, frame = self._open_socket(), self._process_frame
        found = self._open_datagrams().exchange(frame, outputs, self._timeout)
        counter = raw_socket.trusted_counter(-1 if found is None else found.working_counter)
        self.all_in_op = found is not None and found.all_in_op
        self.present = 0 if found is None else found.present
        if found is not None and counter >= 0:
            self.dc_time, self._inputs = found.dc_time, found.inputs
            frame.keep(found.inputs)
        return counter, self._inputs

    # Datagrams to single slaves: MailboxPort, and the clocks.

    def access(self, accesses: Sequence[Access]) -> list[bytes | None]:
        """See MailboxPort."""
        return self._open_datagrams().access(accesses)

    def begin(self, accesses: Sequence[Access]) -> None:
        """See MailboxPort."""
        self._open_datagrams().begin(accesses)

    def finish(self, seconds: float) -> list[bytes | None] | None:
        """See MailboxPort."""
        return self._open_datagrams().finish(seconds)

    def read(self, slave: int, address: int, length: int) -> bytes | None:
        """Return a slave's registers; None without an answer."""
        return self.access([Access(slave, address, length)])[0]

    def clock_difference(self, slave: int) -> int | None:
        """Return how far the slave's clock is from the reference [ns]; None: no answer."""
        data = self.read(slave, *TIME_DIFFERENCE)
        return None if data is None else time_difference(data)

    def _opened(self) -> pysoem.Master:
        """Return the open master, with answers to older requests dropped."""
        self._open_socket().drop()
        assert self._master is not None  # like the socket
        return self._master

    def _open_datagrams(self) -> RawDatagrams:
        if self._datagrams is None:
            raise InterfaceError(_NOT_OPEN)
        return self._datagrams

    def _open_socket(self) -> RawSocket:
        if self._socket is None:
            raise InterfaceError(_NOT_OPEN)
        return self._socket

    def _read_with_long_timeout(self, slave: int, address: int, length: int) -> bytes:
        self._open_socket().drop()
        try:
            return bytes(
                self._slaves[slave]._fprd(address, length, 3 * _LONG_TIMEOUT_US)  # noqa: SLF001
            )
        except pysoem.WkcError as error:
            raise BringUpError(f"slave {slave} does not answer") from error

    def _mailbox_layout(self, slave: int) -> MailboxLayout:
        data = self._read_with_long_timeout(slave, _SYNC_MANAGERS, 2 * _SYNC_MANAGER_BYTES)
        to_slave, to_slave_size = struct.unpack_from("<HH", data)
        from_slave, from_slave_size = struct.unpack_from("<HH", data, _SYNC_MANAGER_BYTES)
        return MailboxLayout(to_slave, to_slave_size, from_slave, from_slave_size)
