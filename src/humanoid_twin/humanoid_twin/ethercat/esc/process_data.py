"""Process data of one slave: mapping, two buffers, and the time of the last outputs."""

from humanoid_devices_erob.protocol import objects
from humanoid_devices_erob.protocol.pdo import RX_MAPPING, TX_MAPPING
from humanoid_twin.clock import SimulatedTime
from humanoid_twin.ethercat.coe.dictionary import ObjectDictionary
from humanoid_twin.ethercat.coe.pdo import Image, Mapping
from humanoid_twin.ethercat.esc import registers as reg
from humanoid_twin.ethercat.esc.esc import ESC_BYTES, Esc
from humanoid_twin.ethercat.esc.sync_manager import INPUTS, OUTPUTS, SyncManager


class ProcessData:
    """Outputs and inputs of a slave, in the sync managers' buffers."""

    def __init__(
        self, esc: Esc, simulated_time: SimulatedTime, dictionary: ObjectDictionary, lines: int
    ) -> None:
        """Add the mapping objects, each with `lines` lines."""
        self.fresh = False  # outputs have come since the last SYNC0
        self.fed = False  # outputs have come since SAFEOP was entered
        self.output_time = 0  # [ns] ring time of the last outputs
        self.writable = False  # the mapping objects, in PREOP
        self.enabled = False  # whether the buffers exchange data with the wire
        self._simulated_time, self._esc = simulated_time, esc
        self.output_manager = SyncManager(esc, OUTPUTS)
        self.input_manager = SyncManager(esc, INPUTS)
        self._rx = Mapping(
            dictionary, objects.RX_PDO, objects.RX_ASSIGN, lines, lambda: self.writable
        )
        self._tx = Mapping(
            dictionary, objects.TX_PDO, objects.TX_ASSIGN, lines, lambda: self.writable
        )
        esc.on(
            reg.RAM, ESC_BYTES - reg.RAM, before_read=self._may_read, before_write=self._may_write,
            after_write=self._written,
        )  # fmt: skip
        self.power_up()

    def power_up(self) -> None:
        """Restore the drive's own mapping: that of the vendor's public demo (assumed)."""
        self._rx.restore(RX_MAPPING)
        self._tx.restore(TX_MAPPING)
        self.start()
        self.enabled = self.writable = False

    @property
    def outputs_fit(self) -> bool:
        """True if the buffer set by the master fits the mapping."""
        return _fits(self.output_manager, self._rx.image())

    @property
    def inputs_fit(self) -> bool:
        """True if the buffer set by the master fits the mapping."""
        return _fits(self.input_manager, self._tx.image())

    def start(self) -> None:
        """Enter SAFEOP: use the present mapping, and wait for outputs."""
        self._outputs, self._inputs = self._rx.image(), self._tx.image()
        self._output_start = self.output_manager.start
        self._input_start = self.input_manager.start
        self.fresh = self.fed = False
        self.enabled = True

    def received(self) -> None:
        """Note outputs from the wire."""
        self.fresh = self.fed = True
        self.output_time = self._simulated_time.now

    def latch(self) -> None:
        """Hand the outputs in the buffer to the firmware."""
        self._outputs.set_entries(self._esc.memory, self._output_start)

    def sample(self) -> None:
        """Put the firmware's inputs into the buffer."""
        start = self._input_start
        if self.enabled:
            self._esc.memory[start : start + self._inputs.bytes] = self._inputs.get_entries()

    def _may_read(self, address: int, length: int) -> bool:
        return self.enabled or not self.input_manager.touches(address, length)

    def _may_write(self, address: int, data: bytes) -> bool:
        if self.input_manager.touches(address, len(data)):
            return False
        return self.enabled or not self.output_manager.touches(address, len(data))

    def _written(self, address: int, data: bytes) -> None:
        manager = self.output_manager
        if manager.touches(address, len(data)) and address + len(data) >= manager.stop:
            self.received()


def _fits(manager: SyncManager, image: Image) -> bool:
    return manager.fits_its_use and manager.in_ram and manager.length == image.bytes
