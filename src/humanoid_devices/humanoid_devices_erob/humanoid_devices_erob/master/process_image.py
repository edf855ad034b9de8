"""Process data of all drives as arrays and as bytes, in ring order."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from humanoid_control_common.errors import HardwareError
from humanoid_devices_erob.protocol.cia402 import CSP
from humanoid_devices_erob.protocol.pdo import RX_BYTES, TX_BYTES

# The layouts of protocol/pdo.py for all drives at once.
OUTPUT: Final = np.dtype(
    [("controlword", "<u2"), ("target", "<i4"), ("mode", "i1"), ("padding", "u1")]
)
INPUT: Final = np.dtype(
    [("statusword", "<u2"), ("position", "<i4"), ("velocity", "<i4"), ("torque", "<i2")]
)


class ProcessImage:
    """Outputs to and inputs from the drives; arrays have shape (n,), in ring order.

    The arrays are views that stay valid: `pack` reads them, `unpack` fills them.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        # [counts] to add to a position: whole turns that the encoder has lost.
        self.turns: NDArray[np.int64] = np.zeros(count, np.int64)
        self._outputs = np.zeros(count, OUTPUT)
        self._outputs["mode"] = CSP
        self._inputs = np.zeros(count, INPUT)
        self.controlword: NDArray[np.uint16] = self._outputs["controlword"]
        self.target: NDArray[np.int32] = self._outputs["target"]  # [counts]
        self.statusword: NDArray[np.uint16] = self._inputs["statusword"]
        self.position: NDArray[np.int32] = self._inputs["position"]  # [counts]
        self.velocity: NDArray[np.int32] = self._inputs["velocity"]  # [counts/s]
        self.torque: NDArray[np.int16] = self._inputs["torque"]  # [1/1000 of rated]

    def pack(self) -> bytes:
        """Return the outputs of all drives, RX_BYTES each."""
        return self._outputs.tobytes()

    def unpack(self, inputs: bytes) -> None:
        """Take the inputs of all drives, TX_BYTES each. Raises HardwareError for another length."""
        if len(inputs) != self.count * TX_BYTES:
            raise HardwareError(
                f"{len(inputs)} bytes of inputs from {self.count} drives, expected {TX_BYTES} each"
            )
        self._inputs[:] = np.frombuffer(inputs, INPUT)


assert OUTPUT.itemsize == RX_BYTES
assert INPUT.itemsize == TX_BYTES
