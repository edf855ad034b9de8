"""The gain registers and the gate 0x2383 that says whether they act."""

from dataclasses import replace
from typing import Literal

from humanoid_twin.drive.parameters import LoopGains

RegisterName = Literal["position", "velocity", "integral", "feed_forward"]


class GainStore:
    """Registers written over the bus, factory gains, and which of the two are active."""

    def __init__(self, factory: LoopGains, *, stores_behind_closed_gate: bool) -> None:
        self._factory = factory
        self._stores = stores_behind_closed_gate
        self.power_cycle()

    def power_cycle(self) -> None:
        """As from the box: gate closed, registers show the factory gains."""
        self.gate = 0
        self.registers = self._factory

    @property
    def active(self) -> LoopGains:
        """What the loops use now."""
        return self.registers if self.gate == 1 else self._factory

    def write(self, name: RegisterName, value: int) -> None:
        """A register written over the bus; without effect on the loops while the gate is 0."""
        if self.gate == 0 and not self._stores:
            return
        self.registers = replace(self.registers, **{name: value})
