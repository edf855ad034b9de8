"""What can go wrong with the ring as a whole, told apart by what helps."""

from __future__ import annotations

from collections.abc import Sequence

from humanoid_control_common.errors import HardwareError


class RingError(HardwareError):
    """The ring can't be driven."""


class InterfaceError(RingError):
    """This process can't use the network interface: the message says what to do."""


class TurnsError(RingError):
    """A joint is not where any number of whole turns could put it."""


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
    """A slave answers but does nothing it is asked for: no second try will help."""
