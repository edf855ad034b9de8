"""Hysteresis deadbands: near its target a joint is not driven, until it leaves a wider band.

A joint holds (is not driven) between the moment that ends its approach and the moment at which its
error leaves the outer band. What ends the approach depends on the mode:

* SignDeadband: the error has become small, and then changes its sign: the joint has arrived.
* AverageDeadband: the average of the latest errors has become small.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from humanoid_control_common.robot.joints import FloatArray

_DRIVE, _APPROACH, _HOLD = np.int8(0), np.int8(1), np.int8(2)


class Deadband(ABC):
    """Decides which of n joints hold.

    Args:
        inner: half the width of the small band, (n,), in the unit of the error; 0: never hold.
        multiplier: of the outer band's width over the inner one's, 1 or more.
        command_step: a command that changes by more than this is a new one, (n,).
    """

    def __init__(self, inner: FloatArray, multiplier: float, command_step: FloatArray) -> None:
        self.inner, self._outer = inner, multiplier * inner
        self._command_step = command_step
        self._command = np.full_like(inner, np.nan)
        self._given = self._command  # what the latest `step` was given
        self.holds: NDArray[np.bool_] = np.zeros(inner.shape, dtype=np.bool_)

    def reset(self) -> None:
        """Clear the state: the next command counts as new."""
        self._command.fill(np.nan)
        self._given = self._command
        self.holds.fill(False)

    def step(self, command: FloatArray, error: FloatArray) -> NDArray[np.bool_]:
        """Return which joints hold in this tick, (n,), valid until the next call.

        The same array `command` as in the call before is the same command.
        """
        self._update(error, None if command is self._given else self._new(command))
        return self.holds

    def _new(self, command: FloatArray) -> NDArray[np.bool_] | None:
        """Return which joints have a new command; None if none has."""
        self._given = command
        is_old = np.abs(command - self._command) <= self._command_step
        if is_old.all():
            return None
        is_new = ~is_old
        np.copyto(self._command, command, where=is_new)
        return is_new

    @abstractmethod
    def _update(self, error: FloatArray, is_new: NDArray[np.bool_] | None) -> None:
        """Set `holds`. `is_new`: which joints have a new command; None if none has."""


class SignDeadband(Deadband):
    """A joint holds once its error, small already, changes its sign or becomes 0.

    It drives again when the error exceeds the outer band, or the command is a new one.
    """

    def __init__(self, inner: FloatArray, multiplier: float, command_step: FloatArray) -> None:
        super().__init__(inner, multiplier, command_step)
        self._state = np.full(inner.shape, _DRIVE)
        self._sign = np.zeros(inner.shape)  # of the error when the approach began
        # Errors between which a joint's state stays, (n,); set by the first step.
        self._lowest, self._highest = np.zeros(inner.shape), np.zeros(inner.shape)

    def reset(self) -> None:
        """See Deadband."""
        super().reset()
        self._state.fill(_DRIVE)

    def _update(self, error: FloatArray, is_new: NDArray[np.bool_] | None) -> None:
        # In most ticks no joint changes its state.
        changes = (error < self._lowest) | (error > self._highest)
        if is_new is None and not np.count_nonzero(changes):
            return
        state, distance = self._state, np.abs(error)
        if is_new is not None:
            state[is_new] = _DRIVE
        state[distance > self._outer] = _DRIVE
        sign = np.sign(error)
        arrived = (state == _APPROACH) & (sign != self._sign)
        entering = (state == _DRIVE) & (distance < self.inner)
        if np.count_nonzero(entering):
            np.copyto(self._sign, sign, where=entering)
            state[entering] = _APPROACH
            state[entering & (sign == 0.0)] = _HOLD
        state[arrived] = _HOLD
        np.equal(state, _HOLD, out=self.holds)
        self._note_bounds(error >= 0.0)

    def _note_bounds(self, positive: NDArray[np.bool_]) -> None:
        """Note between which errors each joint's state stays; `positive`: the error's side."""
        state, outer = self._state, self._outer
        inner = np.where(state == _APPROACH, np.nextafter(0.0, 1.0), self.inner)
        far = np.where(state == _APPROACH, outer, np.inf)
        holds = self.holds
        self._lowest = np.where(holds, -outer, np.where(positive, inner, -far))
        self._highest = np.where(holds, outer, np.where(positive, far, -inner))


class AverageDeadband(Deadband):
    """A joint holds while the average of its latest errors is small; a new command drives once.

    Args:
        window: number of ticks; the average is of one more.
    """

    def __init__(
        self, inner: FloatArray, multiplier: float, command_step: FloatArray, window: int
    ) -> None:
        super().__init__(inner, multiplier, command_step)
        self._errors = np.zeros((window + 1, len(inner)))
        self._count = self._next = 0

    def reset(self) -> None:
        """See Deadband."""
        super().reset()
        self._errors.fill(0.0)
        self._count = self._next = 0

    def _update(self, error: FloatArray, is_new: NDArray[np.bool_] | None) -> None:
        self._errors[self._next] = error
        self._next = (self._next + 1) % len(self._errors)
        self._count = min(self._count + 1, len(self._errors))
        average = np.abs(self._errors.sum(axis=0)) / self._count
        self.holds[:] = np.where(self.holds, average <= self._outer, average < self.inner)
        if is_new is not None:
            self.holds[is_new] = False
