"""Whether the control process stands still, judged without its help."""

from __future__ import annotations

from typing import Final

LEAST_LOOKS: Final = 4  # without news; after a hold-up of the whole machine the loop may come first


class Vigil:
    """Told what is seen at each look; knows no clock. Times in [s]."""

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._fed, self._since, self._looks = 0.0, 0.0, 0

    def stands_still(self, fed: float, now: float) -> bool:
        """Whether the loop, which had come round `fed` times at `now`, has stopped doing so.

        0 times: it hasn't begun, or it has ended in order. A guard that was held up itself takes
        some more looks before it judges: then all were held up.
        """
        if fed != self._fed:
            self._fed, self._since, self._looks = fed, now, 0
        self._looks += 1
        overdue = now - self._since > self._patience
        return fed > 0.0 and overdue and self._looks > LEAST_LOOKS
