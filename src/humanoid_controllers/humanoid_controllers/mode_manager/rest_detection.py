"""Detect joints at rest: arms that do not fall when their damping is removed."""

from typing import Final

import numpy as np

from humanoid_control_common.robot.joints import JointSet
from humanoid_control_common.rules.modes import Mode
from humanoid_control_common.rules.reason_codes import JOINTS_SETTLING
from humanoid_control_common.rules.reasons import NO_REASON, Reason
from humanoid_controller_manager.loop.snapshot import Snapshot

SLOW: Final = 0.1  # [rad/s] of every joint: below it an arm hangs, above it an arm falls
SLOW_FOR: Final = 0.3  # [s] all must be slow: a swinging arm is slow at each end of its swing

_SETTLING: Final = Reason.of(
    JOINTS_SETTLING, f"joints damped and slow for less than {SLOW_FOR:g} s"
)


class RestDetector:
    """Judges the joints by their speed in DAMPING, on the loop's time.

    An arm held up by a hand or by the friction of its gears counts as at rest, too: it may fall
    when it is released.
    """

    def __init__(self, joints: JointSet) -> None:
        self.moving = ""  # names of the joints that are not slow now; empty if all are
        self.settling = NO_REASON  # why slow joints may not be at rest; none if they are not slow
        self._joints = joints
        self._slow_since: float | None = None  # [s]; None: not slow, or not damped

    def update(self, snapshot: Snapshot) -> None:
        """Evaluate one tick."""
        slow = np.abs(snapshot.state_array[1]) <= SLOW  # NaN is not slow
        all_slow = np.count_nonzero(slow) == len(slow)
        self.moving = "" if all_slow else self._joints.named(~slow)
        if self.moving or snapshot.mode is not Mode.DAMPING:
            self._slow_since = None
        elif self._slow_since is None:
            self._slow_since = snapshot.now
        rests = self._slow_since is not None and snapshot.now - self._slow_since >= SLOW_FOR
        self.settling = NO_REASON if self.moving or rests else _SETTLING
