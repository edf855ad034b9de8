"""What can go wrong with a virtual ring, apart from what happens on it."""

from humanoid_twin.errors import TwinError


class RingError(TwinError):
    """The ring can't be started or asked. Says which interface or command, and why."""


class VethError(RingError):
    """A veth pair can't be made or removed. Says which, and what is missing."""
