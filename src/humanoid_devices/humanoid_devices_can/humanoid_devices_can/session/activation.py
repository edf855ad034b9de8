"""Enable and disable motors, all at the same time, each with its acknowledgement."""

import logging
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from math import tau
from typing import Final

import numpy as np

from humanoid_control_common.robot.calibration import LOCATE, turns_into_range
from humanoid_control_common.robot.mit_interface import JointCommand
from humanoid_control_common.rules.reasons import Reason, joined
from humanoid_devices_can.errors import MotorError
from humanoid_devices_can.joint_frame import JointFrame
from humanoid_devices_can.motor_protocol import Exchange, MotorFamily
from humanoid_devices_can.reason_codes import (
    INVALID_FRAME,
    JOINT_MISPLACED,
    MAY_BE_ENABLED,
    MOTOR_NO_ANSWER,
    MOTOR_REFUSED,
)
from humanoid_devices_can.session.session import CHECK_PERIOD, Session
from humanoid_devices_can.settings import CanSettings
from humanoid_devices_can.timing import Timing

logger = logging.getLogger(__name__)

Failures = dict[int, Reason]  # by motor
# For a joint whose range lies whole turns beyond what the wire can carry.
_POWER_CYCLE: Final = (
    "so many turns away, its motor can't tell every angle of the range: switch the motor off and "
    "on with the joint in the middle of its range"
)
UNASKED: Final = 0.04  # [s] of silence: a Robstride that reports by itself sends every 10 ms
_REPORTS: Final = Reason.of(
    MOTOR_REFUSED,
    "reports by itself (active reporting, switched on by another program) and does not stop: "
    "switch that off with the vendor's tool, and save it",
)
LIMP_REPEATS: Final = 3  # before a motor is enabled: one lost frame must not leave it stiff


class Activation:
    """Enables and disables motors of a session."""

    def __init__(
        self,
        settings: CanSettings,
        family: MotorFamily,
        frame: JointFrame,
        session: Session,
        timing: Timing,
    ) -> None:
        self._settings, self._family, self._frame = settings, family, frame
        self._session, self._timing = session, timing

    def bring_up(self, motors: Sequence[int], may_enable: Callable[[], bool]) -> None:
        """Disable, prepare and enable `motors`; if one fails, all are disabled again.

        A motor whose joint is found far outside its range fails, too. Raises MotorError that names
        the joints and what may help, and those that may be enabled nevertheless; MotorError as soon
        as `may_enable` returns False; AdapterLostError. Where obedience is silence, these are also
        the motors that were silent before the second order.
        """
        began = self._session.clock() - self._timing.recent
        for motor in motors:
            self._session.forget(motor)
        failures = self._disable(motors, clear_faults=True)
        failures = failures or self._prepare(motors) or self._reporting(motors)
        silent: Failures = {}
        if not failures:
            failures = (
                self._enable(motors, may_enable)
                or self._unmeasured(motors)
                or self._misplaced(motors)
            )
            silent = self._silent(motors, 0.0) if failures else {}
        if failures:
            problem = self._problem(failures, began)
            if left := self._disable(motors, clear_faults=False) | silent:
                text = f"may still be enabled: {self._named(left)}"
                enabled = Reason.of(MAY_BE_ENABLED, text)
                problem = joined((problem, enabled)).worded(f"{problem.text}; {text}")
            raise MotorError(problem.text, problem)
        # Requests that were refused meanwhile were repeated and obeyed.
        self._session.health.refused_at = -math.inf

    def take_down(self, motors: Sequence[int], *, disabled: Collection[int]) -> None:
        """Disable `motors`. Raises MotorError naming those that did not confirm, AdapterLostError.

        Where silence confirms the order, a motor that was silent before counts as not confirmed,
        unless it is one of those `disabled` before; so does every motor if the bus had errors.
        """
        began = self._session.clock()
        asked = [m for m in motors if m not in disabled]
        failures = self._silent(asked, self._timing.silence)
        orders = [self._family.disabling(m, clear_faults=False) for m in motors]
        quiet = self._timing.silence_at_exit
        orders = [replace(it, quiet=quiet) if it.quiet else it for it in orders]
        failures |= self._exchange_disabling(orders)
        health = self._session.health
        if health.was_off or health.disturbed(began):
            unproven = Reason.of(MOTOR_NO_ANSWER, "silent, but the bus had errors")
            failures = dict.fromkeys((it.motor for it in orders if it.quiet), unproven) | failures
        if self._session.transmit_queue.orders_waiting():
            unsent = Reason.of(MOTOR_REFUSED, "the order could not be sent")
            failures |= dict.fromkeys(motors, unsent)
        if failures:
            text = f"not confirmed that it is disabled: {self._named(failures)}"
            raise MotorError(text, Reason.of(MAY_BE_ENABLED, text))

    def disable_unconfirmed(self) -> None:
        """Send the disabling frames on a bus that counts as lost, and end its threads."""
        motors = range(len(self._settings.motors))
        orders = [self._family.disabling(m, clear_faults=False).request for m in motors]
        self._session.send_unconfirmed([frame for order in orders for frame in order])

    def _disable(self, motors: Iterable[int], *, clear_faults: bool) -> Failures:
        orders = [self._family.disabling(m, clear_faults=clear_faults) for m in motors]
        return self._exchange_disabling(orders)

    def _exchange_disabling(self, orders: Iterable[Exchange]) -> Failures:
        timing = self._timing
        return self._session.exchange(orders, timeout=timing.disable_timeout, retry=timing.retry)

    def _silent(self, motors: Iterable[int], timeout: float) -> Failures:
        """Return those of `motors` that confirm by silence and were silent for `timeout` [s]."""
        orders = [self._family.disabling(m, clear_faults=False) for m in motors]
        quiet = {it.motor: it.quiet for it in orders if it.quiet}
        lost = self._session.unheard(quiet, timeout)
        return dict.fromkeys(lost, Reason.of(MOTOR_NO_ANSWER, "was silent before"))

    def _prepare(self, motors: Iterable[int]) -> Failures:
        left = {motor: list(self._family.preparing(motor)) for motor in motors}
        timing = self._timing
        while orders := [steps.pop(0) for steps in left.values() if steps]:
            failures = self._session.exchange(
                orders, timeout=timing.prepare_timeout, retry=timing.retry
            )
            if failures:
                return failures
        return {}

    def _reporting(self, motors: Sequence[int]) -> Failures:
        """Return the motors that should only answer, and send while nobody asks them.

        They report by themselves: another program has told them to. What was counted of them until
        now shows nothing about a second motor.
        """
        session, found = self._session, list(motors)
        if self._family.feedback_rate:
            return {}
        deadline = session.clock() + self._timing.disable_timeout
        while found and not session.health.lost and session.clock() < deadline:
            session.sleep(CHECK_PERIOD)
            quiet_since = session.health.drained - UNASKED
            found = [m for m in found if session.states[m].stamp > quiet_since]
        session.frame_counts.forget(motors)
        return {} if session.health.lost else dict.fromkeys(found, _REPORTS)

    def _enable(self, motors: Sequence[int], may_go_on: Callable[[], bool]) -> Failures:
        orders = self._limp_enabling(motors)
        timing = self._timing
        # One motor may take long: the watchdogs of those that need commands must not expire.
        limp = () if self._family.feedback_rate else tuple(motors)
        return self._session.exchange(
            orders,
            timeout=timing.enable_timeout,
            retry=timing.enable_retry,
            kept_limp=limp,
            may_go_on=may_go_on,
        )

    def _limp_enabling(self, motors: Iterable[int]) -> list[Exchange]:
        """Return the exchanges that enable `motors`, with zero gains, velocity and effort.

        A motor may have gains and a set point of an earlier run. The gains are sent again
        afterwards: a motor might accept them only once it is enabled.
        """
        zero = JointCommand(len(self._settings.motors))
        commands = self._family.commands(zero)
        limp = self._family.gains(zero) or commands
        orders = []
        for motor in motors:
            order, repeated = self._family.enabling(motor), [limp[motor]] * LIMP_REPEATS
            request = (*repeated, commands[motor], *order.request, limp[motor])
            orders.append(replace(order, request=request))
        return orders

    def _unmeasured(self, motors: Iterable[int]) -> Failures:
        states = self._session.states
        unmeasured = Reason.of(MOTOR_NO_ANSWER, "enabled, but not measured")
        return {m: unmeasured for m in motors if not states[m].measured}

    def _misplaced(self, motors: Iterable[int]) -> Failures:
        """Have the turns added that bring joints into their ranges; return those still outside.

        A joint that is not calibrated may be outside.
        """
        settings, frame, found = self._settings, self._frame, {}
        calibration, limits = settings.calibration, settings.limits
        raw = np.array([state.position for state in self._session.states])
        angles, known = calibration.position_to_joint(raw), calibration.known
        added, turned = frame.turns.copy(), []
        for m in motors:
            angle, lower, upper = float(angles[m]), float(limits.lower[m]), float(limits.upper[m])
            turns = turns_into_range(angle, lower, upper)
            added[m] = (turns or 0) * calibration.direction[m] * tau
            ends = calibration.position_to_raw(np.array([[lower], [upper]]))[:, m] - added[m]
            text = f"measured at {angle:.2f} rad (limits {lower:.2f} to {upper:.2f}): "
            if turns is None and known[m]:
                found[m] = Reason.of(JOINT_MISPLACED, text + LOCATE)
            elif turns and np.abs(ends).max() > self._family.position_limit[m]:
                found[m] = Reason.of(JOINT_MISPLACED, text + _POWER_CYCLE)
            elif turns and added[m] != frame.turns[m]:
                turned.append(f"{settings.motors[m].joint} {turns:+d}")
        if not np.array_equal(added, frame.turns):
            frame.turns = added
        if turned:
            logger.info("%s: whole turns added to positions: %s", settings.name, ", ".join(turned))
        return found

    def _problem(self, failures: Mapping[int, Reason], began: float) -> Reason:
        health = self._session.health
        parts = [self._named(failures)]
        stuck = self._session.transmit_queue.orders_waiting()
        symptom = health.symptom(self._settings.bus, began, stuck=stuck)
        codes = [symptom, *failures.values()]
        if symptom:
            parts.append(symptom.text)
        elif any(MOTOR_NO_ANSWER in reason for reason in failures.values()):
            parts[0] += f" on {self._settings.bus}: powered? id? bitrate?"
        if health.invalid_at > began:
            parts.append(f"received on the bus: {health.invalid}")
            codes.append(Reason.of(INVALID_FRAME, health.invalid))
        return joined(codes).worded("; ".join(parts))

    def _named(self, failures: Mapping[int, Reason]) -> str:
        """Return the failures in words; motors with the same failure share one entry."""
        motors = self._settings.motors
        return "; ".join(
            ", ".join(str(motors[m]) for m in sorted(failures) if failures[m].text == text)
            + f": {text}"
            for text in dict.fromkeys(failures[m].text for m in sorted(failures))
        )
