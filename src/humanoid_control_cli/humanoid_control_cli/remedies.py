"""Tables of remedies of all packages, and the search in them."""

from collections.abc import Iterable
from typing import Final

from humanoid_control_common.remedies import Remedy, remedies_for
from humanoid_controller_manager.remedies import REMEDIES as LOOP
from humanoid_controllers.remedies import REMEDIES as MODES
from humanoid_devices_can.remedies import REMEDIES as CAN
from humanoid_devices_erob.remedies import REMEDIES as ETHERCAT
from humanoid_recording.remedies import REMEDIES as RECORDING

# By the part of the robot whose messages they explain, in the order they are shown.
TABLES: Final = {
    "EtherCAT": ETHERCAT,
    "CAN": CAN,
    "Control loop": LOOP,
    "Modes and operators": MODES,
    "Black box": RECORDING,
}
TABLE: Final = tuple(remedy for table in TABLES.values() for remedy in table)


def said_with(word: str, table: Iterable[Remedy]) -> list[Remedy]:
    """Return the rows for a word of a message: their symptom contains it, or it the symptom."""
    rows = tuple(table)
    small = word.lower()
    return [row for row in rows if small in row.symptom.lower()] or remedies_for(word, rows)
