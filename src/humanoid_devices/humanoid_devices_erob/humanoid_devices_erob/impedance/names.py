"""Names of the impedance manager that other programs use."""

from typing import Final

NODE: Final = "erob_impedance_manager"
STATE_TOPIC: Final = f"{NODE}/state"
