"""What the control channel can do to encoders: a joint that isn't where its drive believes."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from humanoid_twin.errors import TwinError


class Encoder(Protocol):
    """The measuring end of a drive's shaft."""

    def stick(self) -> None:
        """Say the same from now on."""

    def shift(self, angle: float) -> None:
        """Be off by an angle [rad]; 0: be right again."""


@dataclass(frozen=True, slots=True)
class EncoderCommands:
    """Encoders by the names of their joints."""

    encoders: Mapping[str, Encoder]

    def stick_encoder(self, joint: str) -> None:
        """The encoder says the same from now on, however the joint turns."""
        self._encoder(joint).stick()

    def shift_encoder(self, joint: str, angle: float) -> None:
        """The encoder is off by an angle [rad] of the joint; 0 and it is right again."""
        if not math.isfinite(angle):
            raise TwinError(f"{angle} is no angle")
        self._encoder(joint).shift(float(angle))

    def _encoder(self, joint: str) -> Encoder:
        if joint not in self.encoders:
            raise TwinError(f"no joint '{joint}', there are {', '.join(self.encoders)}")
        return self.encoders[joint]
