"""The gain registers and the gate 0x2383, which makes them act."""

from dataclasses import replace
from typing import Literal

from humanoid_twin.erob.parameters import LoopGains

RegisterName = Literal["position", "velocity", "integral", "feed_forward"]


class GainStore:
    """Registers written over the bus, factory gains, and which of the two are active."""

    def __init__(self, factory: LoopGains, *, stores_behind_closed_gate: bool) -> None:
        self._factory = factory
        self._stores = stores_behind_closed_gate
        self.power_cycle()

    def power_cycle(self) -> None:
        """Close the gate and reset the registers to the factory gains."""
        self.gate = 0
        self.registers = self._factory

    @property
    def active(self) -> LoopGains:
        """Gains in use by the loops."""
        return self.registers if self.gate == 1 else self._factory

    def write(self, name: RegisterName, value: int) -> None:
        """Write a register; the loops don't use it while the gate is 0."""
        if self.gate == 0 and not self._stores:
            return
        self.registers = replace(self.registers, **{name: value})
