"""Slow targets down that bring two links of the robot nearer than they may come."""

from collections.abc import Mapping, Sequence
from math import isfinite
from operator import attrgetter
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from humanoid_control_common.robot.joints import FloatArray, IndexArray
from humanoid_control_common.robot.mit_interface import JointState
from humanoid_motion.collision.clearance import DETECTED, Clearance, LinkPair

if TYPE_CHECKING:  # it imports MuJoCo, which takes 0.3 s
    from humanoid_motion.collision.collision_model import CollisionModel

SLOWING: Final = 5.0  # [1/s]: links approach by this part of their remaining room in a second
AHEAD: Final = 0.2  # [s]; inertia / damping of an arm with 2 Nm s/rad: the time in which it brakes
MARGIN: Final = 1.5  # so that a joint that reaches the velocity is not braked for it
_Poses: TypeAlias = tuple[FloatArray, FloatArray, FloatArray]  # measured, ahead, targets before
_HALVINGS: Final = 6
_TRIES: Final = 4  # shorter steps, before the target stays where it is
_ROUNDING: Final = 1e-9  # [m]: the distance of links that do not move is the same
_SHORTER: Final = 0.95  # than by a line: distances over angles are curved


class SelfCollisionStage:
    """Keeps links `distance` [m] apart while stiff joints move to their targets.

    Three poses count: where the joints will be in AHEAD at their present velocity, the target, and
    the pose half-way from the measured one to the target: a joint that lags may cut a corner that
    its target went around. Two links may approach at SLOWING times the room that they have left:
    the step of the target is shortened, for all joints by the same part, until that holds. Links
    that are nearer than `distance` already may only move apart, each pair by itself; if it is the
    motion that leads there, targets come back to the measured pose, so that the damping brakes it.

    Where several controllers share the joints, only the steps of those that lead nearer are
    shortened: the others may make room.
    """

    def __init__(self, model: "CollisionModel", distance: float) -> None:
        self._model, self._distance = model, distance
        # The poses [rad] measured last, a row each (3, n_joints), and their distances [m].
        self._known, self._found = np.zeros((3, len(model.reach))), np.full(3, -np.inf)
        self.clearance: Clearance | None = None  # the smallest one of them

    def allowed(
        self,
        state: JointState,
        before: FloatArray,
        wanted: FloatArray,
        period: float,
        claimed_rows: Sequence[IndexArray] = (),
    ) -> FloatArray:
        """Return the targets [rad] that are allowed instead of `wanted`, `wanted` if these are.

        `before`: the targets of the tick `period` [s] before. All (n_joints,). `claimed_rows`: the
        joints of each of several controllers.
        """
        measured, step = state.position, wanted - before
        ahead = measured + AHEAD * state.velocity
        rate = min(SLOWING * period, 1.0)
        motion = self._motion(step)
        room = self._least(_counting(measured, ahead, before)).min() - self._distance
        # A joint without measurement cannot be judged: the loop leaves the mode for that.
        if motion <= rate * room or not isfinite(self._motion(ahead - wanted)):
            return wanted
        there = self._nearest(measured, ahead + step, wanted)
        if there >= DETECTED:
            return wanted
        poses = measured, ahead, before
        now = self._nearest(*poses)
        if now < self._distance:
            return self._in_narrow_place(poses, wanted, rate)
        if now - there <= rate * (now - self._distance):
            return wanted
        return before + self._shortened(poses, step, (now, there), rate, claimed_rows)

    def allowed_velocity(self, state: JointState, velocity: FloatArray) -> float:
        """Return which part, 0 to 1, of the target velocity [rad/s] (n_joints,) is allowed.

        It leads the links nowhere nearer than MARGIN times the distance in AHEAD, or than they are.
        """
        measured, lead = state.position, AHEAD * velocity
        motion = self._motion(lead)
        if motion == 0.0 or motion <= self._least(measured).max() - self._distance:
            return 1.0
        if not isfinite(motion + self._motion(measured)):
            return 1.0  # see `allowed`
        least = min(MARGIN * self._distance, self._model.clearance(measured).distance)
        if self._model.clearance(measured + lead).distance >= least:
            return 1.0
        free, near = 0.0, 1.0
        for _ in range(_HALVINGS):
            part = (free + near) / 2.0
            far = self._model.clearance(measured + part * lead).distance >= least
            free, near = (part, near) if far else (free, part)
        return free

    def _in_narrow_place(self, poses: _Poses, wanted: FloatArray, rate: float) -> FloatArray:
        """Return the targets that are allowed while two links or more are too near.

        They may only move apart; the others may approach by `rate` of their room.
        """
        measured, ahead, before = poses
        if self._is_driven_nearer(measured, ahead, before):
            return measured
        now, target, part = self._pairs(*poses), wanted, 1.0
        for _ in range(_TRIES):
            there = self._pairs(measured, ahead + target - before, target)
            share = self._allowed_share(now, there, rate)
            if share == 1.0:
                return target
            part *= _SHORTER * share
            target = before + part * (wanted - before)
        return before

    def _allowed_share(
        self, now: Mapping[LinkPair, float], there: Mapping[LinkPair, float], rate: float
    ) -> float:
        """Return which part of the way from distances `now` to `there` every pair may come."""
        share = 1.0
        for pair, apart in there.items():
            here = now.get(pair, DETECTED)
            allowed = rate * max(here - self._distance, 0.0)
            if here - apart > allowed + _ROUNDING:
                share = min(share, allowed / (here - apart))
        return share

    def _shortened(
        self,
        poses: _Poses,
        step: FloatArray,
        distances: tuple[float, float],
        rate: float,
        claimed_rows: Sequence[IndexArray],
    ) -> FloatArray:
        """Return the part of `step` that is allowed; it is too long.

        `distances`: the smallest ones [m], without and with the step.
        """
        measured, ahead, before = poses
        now, there = distances
        allowed = rate * (now - self._distance)
        apart = self._leading_apart(poses, step, claimed_rows, now)
        nearer, part = step - apart, 1.0
        for _ in range(_TRIES):
            part *= _SHORTER * allowed / (now - there)  # where a line to the known distance leads
            shorter = apart + part * nearer
            there = self._nearest(measured, ahead + shorter, before + shorter)
            if now - there <= allowed:
                return shorter
        return np.zeros_like(step)

    def _pairs(
        self, measured: FloatArray, ahead: FloatArray, target: FloatArray
    ) -> dict[LinkPair, float]:
        """Return the smallest distance [m] of every pair at the poses that count."""
        found: dict[LinkPair, float] = {}
        for pose in _counting(measured, ahead, target):
            for pair, apart in self._model.pairs(pose).items():
                found[pair] = min(apart, found.get(pair, apart))
        return found

    def _leading_apart(
        self, poses: _Poses, step: FloatArray, claimed_rows: Sequence[IndexArray], now: float
    ) -> FloatArray:
        """Return the steps of those controllers that by themselves lead no nearer than `now`."""
        measured, ahead, before = poses
        apart = np.zeros_like(step)
        for rows in claimed_rows:
            alone = np.zeros_like(step)
            alone[rows] = step[rows]
            if self._nearest(measured, ahead + alone, before + alone) >= now:
                apart += alone
        return apart

    def _nearest(self, measured: FloatArray, ahead: FloatArray, target: FloatArray) -> float:
        """Return the smallest distance [m] of the poses that count."""
        self._known = _counting(measured, ahead, target)
        found = [self._model.clearance(pose) for pose in self._known]
        self._found[:] = [it.distance for it in found]
        self.clearance = min(found, key=attrgetter("distance"))
        return self.clearance.distance

    def _is_driven_nearer(
        self, measured: FloatArray, ahead: FloatArray, target: FloatArray
    ) -> bool:
        """Return whether links come nearer, and the target is nearer still: it is no support."""
        here, there, driven = (
            self._model.clearance(pose).distance for pose in (measured, ahead, target)
        )
        return there < here and driven < here

    def _least(self, poses: FloatArray) -> FloatArray:
        """Return lower bounds [m] (3,) for the distances of `poses`, from those measured last.

        `poses`: the three that count (3, n_joints), or one (n_joints,), which has three bounds.
        """
        moved: FloatArray = np.abs(poses - self._known) @ self._model.reach
        return self._found - moved

    def _motion(self, step: FloatArray) -> float:
        """Return how far [m] any shape moves in `step` [rad] (n_joints,) at most."""
        return float(np.abs(step) @ self._model.reach)


def _counting(measured: FloatArray, ahead: FloatArray, target: FloatArray) -> FloatArray:
    """Return the poses that count (3, n_joints)."""
    return np.array((ahead, (measured + target) / 2.0, target))
