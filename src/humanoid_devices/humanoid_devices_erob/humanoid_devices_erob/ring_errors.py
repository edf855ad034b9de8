"""What can go wrong with the ring as a whole, told apart by what helps."""

from __future__ import annotations

from humanoid_control_common.errors import HardwareError


class RingError(HardwareError):
    """The ring can't be driven."""


class InterfaceError(RingError):
    """This process can't use the network interface: the message says what to do."""


class IdentityError(RingError):
    """The slaves on the ring are not those of the configuration."""


class BringUpError(RingError):
    """A step of the bring-up failed; frames may have been lost, so a second try may succeed."""


class HungError(RingError):
    """A slave answers but does nothing it is asked for: no second try will help."""
