"""What can go wrong with the virtual CAN bus, apart from what happens on it."""

from humanoid_twin.errors import TwinError


class CanError(TwinError):
    """The virtual CAN bus can't be built or asked. Says what was found and what was expected."""


class AdapterError(CanError):
    """The bus can't be reached from outside: the pty or the interface can't be had. Says why."""
