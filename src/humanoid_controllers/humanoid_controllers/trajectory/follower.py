"""The loop's side of the trajectory controller: follows goals tick by tick."""

from collections import deque
from dataclasses import replace
from typing import Final

import numpy as np

from humanoid_control_common.robot.joints import FloatArray, JointSet
from humanoid_control_common.robot.mit_interface import JointState
from humanoid_controller_manager.loop.latest_value import LatestValue
from humanoid_controllers.trajectory.goal import Goal, Progress, Status, Tolerances
from humanoid_motion.trajectory.time_scaling import TimeScaling, made
from humanoid_motion.trajectory.trajectory import hold

REMEMBERED: Final = 16  # ended goals
ALL: Final = 0  # a number that no goal has
LATE: Final = 1e-6  # [s] rounding of a tick's time
SAME: Final = 1e-6  # [rad], [rad/s]: a goal that is further off does not continue the motion
HELD_BACK_TIMEOUT: Final = 1.0  # [s] for a motion that is held back to make progress
CRAWL: Final = 0.05  # of the time on its path: a slower motion makes no progress


class Follower:
    """Follows one goal after another, without a step of the velocity.

    A motion that is held back continues along its path from the position it has reached. A motion
    that makes no progress ends.

    The loop's thread calls `begin`, `on_held_back`, `step` and `end`; any thread may call `offer`,
    `cancel` and `keep`, and read `progress`.

    Args:
        joints: the controller's.
        acceleration: limits [rad/s^2], (n,), for stops along the path.
        jog_timeout: [s] after which a jog ends if it is not requested again.
    """

    def __init__(self, joints: JointSet, acceleration: FloatArray, jog_timeout: float) -> None:
        self.progress: Progress | None = None  # None while the controller is not in charge
        self._joints = joints
        self._acceleration = acceleration
        self._jog_timeout = jog_timeout
        self._offered: LatestValue[Goal] = LatestValue()
        # Numbers to stop, each with that of the latest goal then: a stop is never lost.
        self._cancelled: deque[tuple[int, int]] = deque(maxlen=REMEMBERED)
        self._newest = self._seen = 0  # numbers of the goals offered last, and taken last
        self._before_begin = 0  # the latter, when the controller took charge
        self._kept: LatestValue[float] = LatestValue()
        everything = np.full(len(joints), np.inf)
        self._any = Tolerances(everything, everything, everything, 0.0)
        self._ended: tuple[tuple[int, Status, str], ...] = ()
        self._waiting: Goal | None = None  # accepted, to begin at its time
        self._scaling: TimeScaling | None = None  # while time on the path is slower
        self._stops = False  # comes to rest along the path
        self._ending = (Status.CANCELED, "")  # of the goal in force, once it has
        self._time = 0.0  # [s] on the trajectory in the latest tick
        self._before = 0.0  # [s] the same in the tick before
        self._slowed = ""  # what holds the motion back
        self._checkpoint = (
            0.0,
            0.0,
        )  # [s] now and on the trajectory, when progress was last judged
        self._fresh = 0.0  # [s] when a jog was last requested
        self._take_up(Goal(0, hold(np.zeros(len(joints))), self._any), 0.0)
        self._command = self._goal.trajectory.end  # (3, n) of the latest tick

    def offer(self, goal: Goal) -> None:
        """Give a planned goal to the next tick, which refuses it if it is overtaken."""
        self._newest = goal.number
        self._offered.put(goal)

    def cancel(self, number: int = ALL) -> None:
        """Stop goal `number`, or all, along the path."""
        self._cancelled.append((number, self._newest))

    def keep(self, now: float) -> None:
        """Repeat the request for the jog in force, at `now` [s] of the loop's time."""
        self._kept.put(now)

    # In the loop's thread.

    def begin(self, position: FloatArray, now: float) -> None:
        """Hold `position` [rad], (n,)."""
        self._take_up(Goal(0, hold(position.copy()), self._any), now)
        self._before_begin = self._seen
        self._status, self._fresh = Status.HOLDING, now
        self._command = self._goal.trajectory.end
        self._report()

    def on_held_back(self, target: FloatArray, why: str) -> None:
        """Take note that the latest step reached only `target` [rad], (n,), and why."""
        path = self._goal.trajectory
        if self._before >= path.duration:
            return  # it rests
        part = made(path.at(self._before)[0], path.at(self._time)[0], target)
        if self._scaling is None:
            time = self._before + part * (self._time - self._before)
            self._scaling = TimeScaling(path, time, self._acceleration, part)
            self._checkpoint = (self._began + self._time, time)
        else:
            self._scaling.hold_back(part)
        self._time, self._slowed = self._scaling.time, why
        if self._waiting is not None and self._waiting.begin is not None:
            text = f"{why}: the motion that it continues is slowed down; send it again"
            self._record_end(self._waiting, Status.OVERTAKEN, text)
            self._waiting = None

    def end(self) -> None:
        """Drop the goals: another controller is in charge."""
        for goal in filter(None, (self._goal if self._is_active else None, self._waiting)):
            self._record_end(goal, Status.ENDED, "the controller is no longer in charge")
        self.progress = None

    def step(self, state: JointState, now: float, period: float) -> FloatArray:
        """Return the commanded state (3, n) of this tick; `state` is measured."""
        begun = self._take_requests(now)
        if self._is_active and not begun and not self._stops:
            self._judge(state, now)
        self._before = self._time
        if self._scaling is None:
            self._time = now - self._began
            self._command = self._goal.trajectory.at(self._time)
        else:
            self._step_scaled(self._scaling, now, period)
        self._report()
        return self._command

    # Inside.

    @property
    def _is_active(self) -> bool:
        return self._status is Status.ACTIVE

    def _step_scaled(self, scaling: TimeScaling, now: float, period: float) -> None:
        self._command = scaling.brake(period) if self._stops else scaling.recover(period)
        self._time, self._began = scaling.time, now - scaling.time
        if self._stops:
            if scaling.stopped:
                self._rest(now)
        elif scaling.ended or scaling.rate == 1.0:
            self._scaling = None

    def _take_requests(self, now: float) -> bool:
        """Read the values of other threads; return whether a goal begins in this tick."""
        cancelled = [self._cancelled.popleft() for _ in range(len(self._cancelled))]
        for number, _ in cancelled:
            self._cancel(number)
        offered = self._offered.take()
        if offered is not None:
            self._accept(offered, now)
            for number, newest in cancelled:
                if offered.number <= newest:
                    self._cancel(number)
        kept = self._kept.take()
        self._fresh = self._fresh if kept is None else kept
        waiting = self._waiting
        if waiting is None or (waiting.begin is not None and now < waiting.begin - LATE):
            return False
        if self._is_active:
            self._record_end(self._goal, Status.PREEMPTED, "another goal came")
        self._take_up(waiting, now if waiting.begin is None else waiting.begin)
        return True

    def _accept(self, goal: Goal, now: float) -> None:
        """Let `goal` wait for its time, if it continues what is commanded then."""
        self._seen = goal.number
        late = goal.begin is None or goal.begin < now - LATE
        begins = now if goal.begin is None or late else goal.begin
        fits = goal.after is self._goal and self._scaling is None
        if not fits or not self._is_continued(goal, begins):
            text = "another goal or a stop came while it was planned: send it again"
            self._record_end(goal, Status.OVERTAKEN, text)
            return
        if self._waiting is not None:
            self._record_end(self._waiting, Status.PREEMPTED, "another goal came")
        self._waiting = replace(goal, begin=None) if late else goal
        if goal.jog:  # a jog that it replaces lasts until then
            self._fresh = now

    def _is_continued(self, goal: Goal, begins: float) -> bool:
        """Return whether `goal` begins as the motion in force will be at the time `begins` [s]."""
        here = self._goal.trajectory.at(begins - self._began)[:2]
        return bool((np.abs(goal.trajectory.at(0.0)[:2] - here) < SAME).all())

    def _take_up(self, goal: Goal, began: float) -> None:
        self._goal, self._began, self._status, self._text = goal, began, Status.ACTIVE, ""
        self._scaling = self._waiting = None
        self._stops, self._time = False, 0.0

    def _cancel(self, number: int) -> None:
        waiting = self._waiting
        if waiting is not None and number in (ALL, waiting.number):
            self._record_end(waiting, Status.CANCELED, "on request, before it began")
            self._waiting = None
        if self._is_active and number in (ALL, self._goal.number):
            self._brake(Status.CANCELED, "on request")

    def _judge(self, state: JointState, now: float) -> None:
        """End the goal in force if that is due; `state` is measured."""
        goal = self._goal
        time = now - self._began if self._scaling is None else self._time
        limits = goal.tolerances
        error = np.abs(state.position - self._command[0])
        ends = goal.trajectory.duration
        if goal.jog and now - self._fresh > self._jog_timeout and time < ends:
            self._brake(Status.CANCELED, "no jog message came in time")
        elif self._scaling is not None and not self._makes_progress(now):
            self._brake(Status.LINKS_TOO_NEAR, f"{self._slowed}: the way is not free")
        elif time < ends:
            wrong = error > limits.path
            if wrong.any():
                text = self._beyond(error, wrong, limits.path)
                self._brake(Status.PATH_TOLERANCE_VIOLATED, text)
        else:
            wrong = np.abs(state.position - goal.trajectory.end[0]) > limits.goal
            if not wrong.any() and (np.abs(state.velocity) <= limits.velocity).all():
                self._finish(Status.SUCCEEDED, "")
            elif 0.0 < limits.goal_time < time - ends:
                text = self._beyond(error, wrong, limits.goal) or "the joints still move"
                self._finish(Status.GOAL_TOLERANCE_VIOLATED, text)

    def _makes_progress(self, now: float) -> bool:
        """Return whether a motion that is held back has not been stuck for HELD_BACK_TIMEOUT."""
        since, place = self._checkpoint
        if now - since < HELD_BACK_TIMEOUT:
            return True
        self._checkpoint = (now, self._time)
        return self._time - place >= CRAWL * (now - since)

    def _beyond(self, error: FloatArray, wrong: np.ndarray, limit: FloatArray) -> str:
        return "; ".join(
            f"{self._joints.names[i]}: {error[i]:.3g} rad away, tolerance {limit[i]:.3g} rad"
            for i in np.flatnonzero(wrong)
        )

    def _brake(self, status: Status, text: str) -> None:
        """Come to rest along the path; the goal ends then. A goal that waits is dropped."""
        if self._waiting is not None:
            self._record_end(
                self._waiting, Status.PREEMPTED, "the motion that it continues was stopped"
            )
            self._waiting = None
        if not self._stops:
            path = self._goal.trajectory
            self._scaling = self._scaling or TimeScaling(path, self._time, self._acceleration)
            self._stops, self._ending = True, (status, text)

    def _rest(self, now: float) -> None:
        """Hold the pose at which the joints came to rest."""
        number, ending = self._goal.number, self._ending
        self._record_end(self._goal, *ending)
        self._take_up(Goal(number, hold(self._command[0].copy()), self._any), now)
        self._status, self._text = ending

    def _finish(self, status: Status, text: str) -> None:
        self._record_end(self._goal, status, text)
        self._status, self._text = status, text

    def _record_end(self, goal: Goal, status: Status, text: str) -> None:
        self._ended = (*self._ended[1 - REMEMBERED :], (goal.number, status, text))

    def _report(self) -> None:
        self.progress = Progress(
            self._goal,
            self._began,
            self._status,
            self._text,
            self._stops,
            self._time,
            1.0 if self._scaling is None else self._scaling.rate,
            self._ended,
            0 if self._waiting is None else self._waiting.number,
            self._seen,
            self._before_begin,
        )
