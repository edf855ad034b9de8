"""Errors of the ring, and texts that name several slaves or joints."""

from collections.abc import Iterable, Sequence
from typing import Final

from humanoid_control_common.errors import HardwareError

POWER_OFF: Final = "switch the power of the drives off"
EEPROM_REMEDY: Final = (
    "its EEPROM (SII) is empty or damaged: write it again with the vendor's tool, then switch its "
    "power off and on"
)


class RingError(HardwareError):
    """The ring can't be driven."""


class InterfaceError(RingError):
    """This process can't use the network interface; the message has a remedy."""


class TurnsError(RingError):
    """No whole number of turns brings `joints` (places in the block) clearly into their ranges."""

    def __init__(self, message: str, joints: Sequence[int]) -> None:
        super().__init__(message)
        self.joints = tuple(joints)


class IdentityError(RingError):
    """The slaves on the ring are not those of the configuration."""


class BringUpError(RingError):
    """A step of the bring-up failed; frames may have been lost, so a second try may succeed."""


class NotEnabledError(BringUpError):
    """Drives in OP don't come into operation; `slaves` are their places on the ring."""

    def __init__(self, message: str, slaves: Sequence[int]) -> None:
        super().__init__(message)
        self.slaves = tuple(slaves)


class DriveSetupError(RingError):
    """A drive in OP is set up otherwise than it must be: no second try will help."""


class HungError(RingError):
    """A slave answers but ignores every request: a second try at once will not help."""


def joined_by_text(texts: Iterable[tuple[str, str]]) -> str:
    """Return 'a, b: does not answer; c: INIT' for (name, text) pairs, by first appearance."""
    names_of: dict[str, list[str]] = {}
    for name, text in texts:
        names_of.setdefault(text, []).append(name)
    return "; ".join(f"{', '.join(names)}: {text}" for text, names in names_of.items())
