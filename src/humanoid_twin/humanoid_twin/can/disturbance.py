"""What goes wrong on the cable, on request."""

from dataclasses import dataclass, field
from random import Random


@dataclass(slots=True)
class Disturbance:
    """Decides about each frame that would otherwise get through."""

    random: Random = field(default_factory=lambda: Random(0))
    lost_probability: float = 0.0  # of being acknowledged and then lost in the receivers' buffers
    corrupt_next: int = 0  # frames that will be destroyed on the wire; their senders repeat them

    def corrupts(self) -> bool:
        """Whether the frame that starts now is destroyed."""
        if not self.corrupt_next:
            return False
        self.corrupt_next -= 1
        return True

    def loses(self) -> bool:
        """Whether the frame that got through is lost."""
        return self.lost_probability > 0 and self.random.random() < self.lost_probability
