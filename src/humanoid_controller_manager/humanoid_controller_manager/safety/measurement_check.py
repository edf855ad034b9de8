"""Measurements that no healthy joint gives: too fast, jumping, or still under a hard pull.

The loop checks in every tick, before the controller gets the state.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from humanoid_control_common.robot.joints import FloatArray, JointSet
from humanoid_control_common.robot.mit_interface import JointState
from humanoid_control_common.rules.reasons import NO_REASON, Reason
from humanoid_controller_manager.reason_codes import JOINT_DOES_NOT_FOLLOW, JOINT_TOO_FAST

STRIKES: Final = 2  # ticks in a row: one bad sample is noise, the second one is believed
# An encoder that fails gives good samples in between. The number of doubted samples falls by this
# in a tick; a joint with one in two reaches the limit after 30 ticks, with one in four never.
FORGIVEN: Final = 0.25
MOST_DOUBTED: Final = 8.0
# Static friction f holds a joint while the pull of the stiffness changes by up to 2 f. A joint does
# not follow if its position stays the same to the count although the pull changes by three times
# its friction: friction grows with load and cold.
FRICTIONS_OF_PULL: Final = 3.0
ASSUMED_FRICTION: Final = 1.0 / 9.0  # of the effort limit, where none is given (assumed)
FOLLOW_INTERVAL: Final = 0.02  # [s] between two checks, and in which a target has an effect
WINDOW: Final = 0.1  # [s] for the speed by distance: some measured velocities saturate

# After a late tick, the next measurement may date from before it. After late measurements, the next
# one is further away than one period explains.
HELD_UP: Final = 2.0  # periods
OLD: Final = 0.02  # [s], at least: a bus may have a period of its own
LONGEST_LAG: Final = 0.2  # [s] a measurement may be late: beyond it the bus has a fault
LATE_TICKS: Final = 4

_POSITION, _VELOCITY = 0, 1  # rows


class MeasurementCheck:
    """Decides when the measurements of a joint are a reason to go to DAMPING.

    * Measured velocity, and the distance from one tick to the next, beyond the joint's velocity
      safety limit in two ticks in a row. The first such sample is doubted: the last good position
      replaces it, and the velocity is cut to the limit. The distance may be longer by that of one
      period: a sample may be that much older than another.
    * More than one in four samples that are doubted so.
    * The same distance over a tenth of a second, where the age of samples hardly matters.
    * A stiff joint whose measured position does not change by a count while the pull of the
      stiffness changes by three times its static friction, between any two targets: a dead encoder,
      or an obstacle. A target counts once it has acted for `FOLLOW_INTERVAL`: a motion is measured
      later.

    Args:
        limit: velocity safety limit of each joint [rad/s], (n,).
        friction: static friction of each joint [Nm], (n,).
        update_rate: of the loop [Hz].
    """

    def __init__(
        self, joints: JointSet, limit: FloatArray, friction: FloatArray, update_rate: float
    ) -> None:
        count = len(joints)
        self._joints = joints
        self._limit = limit
        self._period = 1.0 / update_rate
        self._old = max(HELD_UP * self._period, OLD)  # [s]
        self._lag = self._period  # [s] one sample may be older than another
        self._late_ticks = 0  # remaining ticks in which samples may be as old as the last hold-up
        self._good = np.array([np.full(count, np.nan), np.zeros(count)])  # position believed last
        self._age = 0.0  # [s] since then
        self._bound_age = 0.0
        self._bounds = np.array([limit, limit])  # [rad] of the distance, [rad/s] of the velocity
        self._window_start = np.full(count, np.nan)  # [rad]
        self._window_age = WINDOW  # [s]; the first check begins a window
        self._moves = np.zeros((2, count))
        self._beyond = np.zeros((2, count), dtype=np.bool_)
        self._strikes = np.zeros(count, dtype=np.intp)
        self._has_suspects = False
        self._doubts = np.zeros(count)  # doubted samples that are not forgiven
        self._since_doubt = 0.0  # [s]
        self._follow = _Following(joints, FRICTIONS_OF_PULL * friction)

    @property
    def standing_pull(self) -> FloatArray:
        """Largest change of the pull on each joint without a motion since the start [Nm], (n,)."""
        return self._follow.largest

    @property
    def standing_bound(self) -> FloatArray:
        """The change beyond which a joint does not follow [Nm], (n,)."""
        return self._follow.bound

    def restart(self) -> None:
        """Forget all samples: the joints were put somewhere else."""
        self._good[_POSITION] = np.nan
        self._window_start.fill(np.nan)
        self._age, self._window_age = 0.0, WINDOW
        self._strikes.fill(0)
        self._doubts.fill(0.0)
        self._has_suspects = False
        self.begin_mode()

    def begin_mode(self) -> None:
        """Forget the targets of the controller before."""
        self._follow.restart()

    @property
    def found_new_problem(self) -> bool:
        """True if the latest `check` found a problem that the one before had not found."""
        return bool((self._strikes == STRIKES).any())

    def check(self, state: JointState, period: float, sample_age: float = 0.0) -> Reason:
        """Return why the measurements cannot be believed, if so.

        Replaces a first implausible sample in `state`. `period`: [s] since the last tick.
        `sample_age`: age [s] of the oldest measurement in `state`.
        """
        self._age += period
        self._window_age += period
        self._since_doubt += period
        held_up = max(period, min(sample_age, LONGEST_LAG) if sample_age > self._old else 0.0)
        if held_up > HELD_UP * self._period or self._late_ticks:
            self._allow_for_hold_up(held_up)
        # A doubted sample extends no deadline: the next one confirms or refutes it.
        bound_age = max(self._age, period + self._lag)
        if bound_age != self._bound_age:
            self._bound_age = bound_age
            np.multiply(self._limit, self._bound_age, out=self._bounds[_POSITION])
        moves = self._moves
        np.subtract(state.array[:2], self._good, moves)
        np.abs(moves, moves)
        np.greater(moves, self._bounds, self._beyond)
        if self._has_suspects or np.count_nonzero(self._beyond):
            return self._judge_suspects(state)
        self._believe(state)
        return NO_REASON if self._window_age < WINDOW else self._check_window(state)

    def check_following(
        self,
        state: JointState,
        target: FloatArray,
        stiffness: FloatArray,
        period: float,
        sample_age: float = 0.0,
    ) -> Reason:
        """Return which joints do not follow `target` [rad]. `stiffness` [Nm/rad] is what acts.

        Old measurements show nothing: a motor that is silent is reported by its component.
        """
        if sample_age > self._old:
            return NO_REASON
        return self._follow.check(state.position, target, stiffness, period)

    def _allow_for_hold_up(self, held_up: float) -> None:
        """Allow samples as old as `held_up` [s] for a few ticks; begin a new window."""
        if held_up > HELD_UP * self._period:
            self._lag, self._late_ticks = held_up, LATE_TICKS
        else:
            self._late_ticks -= 1
        if not self._late_ticks:
            self._lag = self._period
        self._window_start.fill(np.nan)
        self._window_age = WINDOW

    def _judge_suspects(self, state: JointState) -> Reason:
        beyond = self._beyond.any(axis=0)
        self._strikes += 1
        self._strikes[~beyond] = 0
        self._has_suspects = bool(beyond.any())
        believed = self._strikes >= STRIKES
        reasons = [self._reason(i, state) for i in np.flatnonzero(believed).tolist()]
        np.copyto(self._window_start, state.position, where=believed)  # it is reported once
        doubted = beyond & ~believed
        if not doubted.any():
            self._believe(state)
            return _too_fast(reasons)
        reasons += self._often_doubted(doubted, state)
        # Distances are still measured from the last sample in which no joint was doubted.
        np.copyto(state.position, self._good[_POSITION], where=doubted & self._beyond[_POSITION])
        np.clip(state.velocity, -self._limit, self._limit, out=state.velocity, where=doubted)
        return _too_fast(reasons)

    def _often_doubted(self, doubted: NDArray[np.bool_], state: JointState) -> list[str]:
        """Count the `doubted` samples, (n,); return the joints that have too many."""
        known = self._doubts >= MOST_DOUBTED
        self._doubts -= FORGIVEN * self._since_doubt / self._period
        np.maximum(self._doubts, 0.0, out=self._doubts)
        np.minimum(self._doubts + doubted, MOST_DOUBTED, out=self._doubts)
        self._since_doubt = 0.0
        found = doubted & (self._doubts >= MOST_DOUBTED)
        self._strikes[found & ~known] = STRIKES
        return [
            f"{self._reason(i, state)}, as in samples before: does its encoder fail?"
            for i in np.flatnonzero(found).tolist()
        ]

    def _believe(self, state: JointState) -> None:
        self._good[_POSITION] = state.position
        self._age = 0.0

    def _check_window(self, state: JointState) -> Reason:
        """Return which joints went too far since the window began; begin a new window."""
        moved = np.abs(state.position - self._window_start)
        too_far = moved > self._limit * (self._window_age + self._lag)
        problems = [
            f"{self._joints.names[i]} moved {moved[i]:.3g} rad in {self._window_age * 1e3:.0f} ms "
            f"(velocity safety limit {self._limit[i]:.3g} rad/s)"
            for i in np.flatnonzero(too_far).tolist()
        ]
        self._window_start[:] = state.position
        self._window_age = 0.0
        self._strikes[too_far] = STRIKES
        self._has_suspects = bool(problems)
        return _too_fast(problems)

    def _reason(self, i: int, state: JointState) -> str:
        name, limit = self._joints.names[i], f"velocity safety limit {self._limit[i]:.3g} rad/s"
        if self._beyond[_VELOCITY, i]:
            return f"{name} moves at {state.velocity[i]:.3g} rad/s ({limit})"
        distance = state.position[i] - self._good[_POSITION, i]
        return (
            f"{name} is {distance:.3g} rad from where it was {self._age * 1e3:.0f} ms ago ({limit})"
        )


def _too_fast(problems: Sequence[str]) -> Reason:
    return Reason.of(JOINT_TOO_FAST, "; ".join(problems)) if problems else NO_REASON


class _Following:
    """Measured position, and the range of the targets since it changed last."""

    def __init__(self, joints: JointSet, bound: FloatArray) -> None:
        self.bound = bound  # [Nm] of the change of the pull
        self.largest = np.zeros(len(joints))  # [Nm] since the start
        self._joints = joints
        self._position = np.full(len(joints), np.nan)
        self._lowest, self._highest = np.zeros(len(joints)), np.zeros(len(joints))  # targets
        self._seen = np.zeros(len(joints))  # target at the last check
        self._changed = np.zeros(len(joints), dtype=np.bool_)
        self._soft = np.zeros(len(joints), dtype=np.bool_)
        self._tightened = np.zeros(len(joints))
        self._age = 0.0

    def restart(self) -> None:
        self._position.fill(np.nan)

    def check(
        self, position: FloatArray, target: FloatArray, stiffness: FloatArray, period: float
    ) -> Reason:
        self._age += period
        if self._age < FOLLOW_INTERVAL:
            return NO_REASON
        self._age = 0.0
        np.not_equal(position, self._position, out=self._changed)
        # Joints without stiffness at the last check begin here.
        np.logical_or(self._changed, self._soft, out=self._changed)
        np.less_equal(stiffness, 0.0, out=self._soft)
        np.copyto(self._position, position, where=self._changed)
        for kept in (self._lowest, self._highest, self._seen):
            np.copyto(kept, target, where=self._changed)
        np.minimum(self._lowest, self._seen, out=self._lowest)
        np.maximum(self._highest, self._seen, out=self._highest)
        np.copyto(self._seen, target)
        tightened = self._tightened
        np.subtract(self._highest, self._lowest, out=tightened)
        np.multiply(tightened, stiffness, out=tightened)
        np.maximum(self.largest, tightened, out=self.largest)
        np.greater(tightened, self.bound, out=self._changed)
        if not np.count_nonzero(self._changed):
            return NO_REASON
        names = self._joints.named(self._changed)
        most = float(tightened.max())
        text = (
            f"{names} does not follow: no motion is measured although its spring "
            f"torque changed by {most:.3g} Nm (obstacle, closed brake, encoder, or a motor that "
            "ignores its commands)"
        )
        return Reason.of(JOINT_DOES_NOT_FOLLOW, text)
