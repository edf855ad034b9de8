"""Tables of reason codes of all packages, and the search in them."""

from collections.abc import Iterable, Iterator
from typing import Final

from humanoid_control_common.rules.reason_codes import CODES as MODES
from humanoid_control_common.rules.reasons import ReasonCode
from humanoid_controller_manager.reason_codes import CODES as LOOP
from humanoid_controllers.reason_codes import CODES as OPERATORS
from humanoid_devices_can.reason_codes import CODES as CAN
from humanoid_devices_erob.reason_codes import CODES as ETHERCAT
from humanoid_devices_mujoco.reason_codes import CODES as SIMULATION
from humanoid_policy.reason_codes import CODES as POLICIES
from humanoid_recording.reason_codes import CODES as RECORDING

TABLES: Final = (MODES, OPERATORS, LOOP, POLICIES, ETHERCAT, CAN, SIMULATION, RECORDING)
CODE_OF_NAME: Final = {code.name: code for table in TABLES for code in table}


def known(names: Iterable[str]) -> Iterator[ReasonCode]:
    """Yield the codes with these names, each once; a plug-in may have codes of its own."""
    for name in dict.fromkeys(names):
        if name in CODE_OF_NAME:
            yield CODE_OF_NAME[name]


def containing(word: str) -> list[ReasonCode]:
    """Return the code with the name `word`; else all whose name contains it, in any case."""
    name = word.upper().replace("-", "_").replace(" ", "_")
    if name in CODE_OF_NAME:
        return [CODE_OF_NAME[name]]
    return [code for code in CODE_OF_NAME.values() if name in code.name]
