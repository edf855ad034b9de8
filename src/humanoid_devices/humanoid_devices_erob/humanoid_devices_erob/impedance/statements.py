"""Selection of the messages on /control_mode that the impedance manager accepts."""

import logging
from typing import Any, Final

from humanoid_control_common.log_on_change import LogOnChange
from humanoid_control_common.rules.modes import Mode
from humanoid_devices_erob.impedance.values import ModeInForce

logger = logging.getLogger(__name__)

MODES: Final = frozenset(Mode)
OLDEST: Final = 1.0  # [s] between the stamp of a statement and its arrival; live it is some ms


class StatementFilter:
    """Separates live statements from requests and from the statements of a replayed recording.

    A recording keeps its original stamps, and sender and receiver share a machine's clock. In any
    case the component refuses writes for a mode and number that are not in force.
    """

    def __init__(self, *, follow_requests: bool) -> None:
        self._follow_requests = follow_requests
        self._complain = LogOnChange(
            lambda reason: logger.warning("a message on /control_mode is ignored: %s", reason)
        )

    def of_message(self, message: Any, now: float) -> ModeInForce | None:
        """Return the mode that a ControlMode states, None if it does not count.

        `now`: time of its arrival [s since the epoch].
        """
        stamp = message.header.stamp.sec + message.header.stamp.nanosec * 1e-9
        age = now - stamp if stamp > 0.0 else None
        return self.mode_in_force(message.mode, message.controller_name, message.switch_number, age)

    def mode_in_force(
        self, mode: int, controller_name: str, number: int, age: float | None
    ) -> ModeInForce | None:
        """Return the mode stated by a message, None if it does not count.

        `age`: [s] since its stamp; None: without stamp.
        """
        if not controller_name and not self._follow_requests:
            return None
        if mode not in MODES:
            self._complain(f"there is no mode {mode}")
        elif controller_name and age is not None and age > OLDEST:
            # Without the age, so that repeated messages are logged once.
            self._complain(
                f"it is stamped more than {OLDEST:g} s ago: a recording, or clocks that differ"
            )
        else:
            return ModeInForce(Mode(mode), number)
        return None
