"""Rules without a bus: gains, requests, rate limit, duplicate ids, the state of motors."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_control_common.robot.calibration import Calibration
from humanoid_control_common.robot.mit_interface import JointCommand, JointState
from humanoid_control_common.rules.reasons import Reason, ReasonCode
from humanoid_devices_can.bus.bus import BusSettings, CanFrame, ErrorFrame
from humanoid_devices_can.bus.error_frames import BusEvent
from humanoid_devices_can.frame_share import FrameShare
from humanoid_devices_can.joint_frame import JointFrame
from humanoid_devices_can.motor_protocol import Exchange, Feedback, MotorState
from humanoid_devices_can.reason_codes import (
    ERROR_FRAMES,
    MOTOR_NO_ANSWER,
    MOTOR_REFUSED,
    NOT_ACKNOWLEDGED,
)
from humanoid_devices_can.session.acknowledged_requests import REFUSED, AcknowledgedRequests
from humanoid_devices_can.session.health import FrameCounts, Health
from humanoid_devices_can.session.transmit_queue import (
    BURST,
    GainsItem,
    Kind,
    RateLimit,
    SentGains,
    limp_items,
)
from humanoid_devices_can.session.unanswered import Unanswered

NEVER = -math.inf
SOFT, STIFF = (1, b"soft"), (1, b"stiff")


def gains_item(frame: CanFrame, motor: int = 0) -> GainsItem:
    return GainsItem(Kind.GAINS, motor, frame, 0.0, 20.0, 1.0)


def test_gains_are_due_until_they_were_transmitted() -> None:
    gains = SentGains(1, 0.5, 0.2)
    assert gains.due([SOFT], 0.0) == [0]
    assert gains.due([SOFT], 0.02) == [0]
    gains.sent(gains_item(SOFT), 0.02)
    assert gains.due([SOFT], 0.04) == []
    assert gains.due([STIFF], 0.04) == [0]


def test_changed_gains_are_due_in_every_tick_for_a_while() -> None:
    """Lost frames must not leave a motor stiff until the gains are sent again at 2 Hz."""
    gains = SentGains(1, 0.5, 0.2)
    gains.sent(gains_item(STIFF), 0.0)
    assert gains.due([STIFF], 0.02) == []  # not known to be a change
    for tick in range(10):
        assert gains.due([SOFT], 1.0 + 0.02 * tick) == [0]
        gains.sent(gains_item(SOFT), 1.0 + 0.02 * tick)
    assert gains.due([SOFT], 1.21) == []


def test_gains_are_due_again_at_2_hz() -> None:
    gains = SentGains(1, 0.5, 0.2)
    gains.sent(gains_item(SOFT), 0.0)
    assert gains.due([SOFT], 0.49) == []
    assert gains.due([SOFT], 0.5) == [0]


def test_gains_are_due_when_the_motor_may_have_lost_them() -> None:
    gains = SentGains(2, 0.5, 0.2)
    gains.sent(gains_item(SOFT), 0.0)
    gains.sent(gains_item(SOFT, 1), 0.0)
    gains.forget(1)
    assert gains.due([SOFT, SOFT], 0.1) == [1]


def test_gains_in_force_are_those_transmitted_last() -> None:
    gains = SentGains(2, 0.5, 0.2)
    gains.sent(gains_item(SOFT, 1), 0.0)
    gains.forget(1)  # the motor may or may not have lost them
    assert (gains.stiffness.tolist(), gains.damping.tolist()) == ([0.0, 20.0], [0.0, 1.0])
    gains.reset(1)
    assert (gains.stiffness.tolist(), gains.damping.tolist()) == ([0.0, 0.0], [0.0, 0.0])
    assert gains.due([SOFT, SOFT], 0.1) == [0, 1]


class Disabling:
    """A family whose frames contain their arguments."""

    def commands(self, command: JointCommand) -> list[tuple[int, bytes]]:
        return [(i, str(row).encode()) for i, row in enumerate(command.array.T.tolist())]

    gains = commands


def test_motors_that_are_to_be_limp_are_reported_to_stay_where_they_are_measured() -> None:
    """A motor that had lost its gains would go to the position of its command."""
    states = [MotorState(position=0.7), MotorState(position=-0.2), MotorState()]
    items = limp_items(Disabling(), states, SentGains(3, 0.5, 0.2), [0, 2], 1.0)
    here, nowhere = b"[0.7, 0.0, 0.0, 0.0, 0.0]", b"[0.0, 0.0, 0.0, 0.0, 0.0]"
    assert [(it.kind, it.motor, it.frame[1]) for it in items] == [
        (Kind.GAINS, 0, here),
        (Kind.GAINS, 2, nowhere),
        (Kind.COMMAND, 0, here),
        (Kind.COMMAND, 2, nowhere),
    ]


@pytest.mark.parametrize(("times", "refuses"), [([9.9], False), ([9.5, 9.7, 9.9], True)])
def test_repeated_refusals_are_reported_and_a_single_one_is_not(times, refuses) -> None:
    health = Health()
    for time in times:
        health.take_refusal(time)
    assert health.refuses(since=9.0) is refuses


def answered(motor: int) -> Exchange:
    return Exchange(
        motor, ((motor, b"?"),), lambda id_, text: text.decode() if id_ == motor else None
    )


def exchanges(*exchanges: Exchange) -> AcknowledgedRequests:
    return AcknowledgedRequests(exchanges, 0.0, timeout=1.0, retry=0.1)


STATES = [MotorState(), MotorState()]


def test_every_motor_gets_the_request_at_once_and_again_until_it_answers() -> None:
    requests = exchanges(answered(0), answered(1))
    assert [e.motor for e in requests.due(0.0, STATES, NEVER)] == [0, 1]
    assert requests.due(0.09, STATES, NEVER) == []
    requests.take(1, b"", 0.0)
    assert [e.motor for e in requests.due(0.1, STATES, NEVER)] == [0]
    assert not requests.over(0.2, 0.2, STATES)
    requests.take(0, b"", 0.0)
    assert requests.over(0.2, 0.2, STATES)
    assert requests.failures == {}


def test_an_answer_that_must_last_counts_when_another_one_comes_later() -> None:
    requests = exchanges(replace(answered(0), again=0.05))
    requests.due(0.0, STATES, NEVER)
    for time in (0.02, 0.06):  # frames that an adapter delivers together
        requests.take(0, b"", time)
    assert not requests.over(0.06, 0.06, STATES)
    assert len(requests.due(0.1, STATES, NEVER)) == 1  # the frame may be from before the request
    requests.take(0, b"", 0.12)
    assert not requests.over(0.12, 0.12, STATES)
    requests.take(0, b"", 0.17)
    assert requests.over(0.17, 0.17, STATES)
    assert requests.failures == {}


def test_negative_answer_is_a_failure() -> None:
    requests = exchanges(answered(0))
    requests.take(0, b"too hot", 0.0)
    assert requests.over(0.0, 0.0, STATES)
    assert requests.failures == {0: Reason.of(MOTOR_REFUSED, "too hot")}


def test_motor_that_does_not_answer_in_time_is_a_failure() -> None:
    requests = exchanges(answered(0), answered(1))
    requests.take(0, b"", 0.0)
    assert requests.over(1.0, 1.0, STATES)
    assert requests.failures == {1: Reason.of(MOTOR_NO_ANSWER, "no answer within 1 s")}


def test_request_that_the_adapter_may_have_refused_is_repeated_soon() -> None:
    requests = exchanges(answered(0))
    requests.due(0.0, STATES, NEVER)
    assert requests.due(REFUSED - 1e-3, STATES, 0.01) == []
    assert len(requests.due(REFUSED, STATES, 0.01)) == 1
    assert requests.due(2 * REFUSED, STATES, 0.01) == []


def test_silence_is_an_answer_only_after_the_request_and_while_the_receiver_runs() -> None:
    requests = exchanges(Exchange(0, ((0, b"?"),), quiet=0.05))
    assert not requests.over(0.5, 0.5, STATES)  # no request yet
    requests.due(0.5, STATES, NEVER)
    assert not requests.over(0.6, 0.5, STATES)  # the receiver was held up
    sending = [MotorState(stamp=0.58)]
    assert not requests.over(0.61, 0.61, sending)
    assert len(requests.due(0.61, sending, NEVER)) == 1
    assert not requests.over(0.62, 0.62, sending)
    assert requests.over(0.63, 0.63, sending)
    assert requests.failures == {}


def test_an_order_is_repeated_at_the_end_of_the_silence_so_that_a_frame_after_it_is_confirmed() -> (
    None
):
    requests = exchanges(Exchange(0, ((0, b"?"),), quiet=0.05))
    assert len(requests.due(0.1, STATES, NEVER)) == 1
    assert requests.due(0.149, STATES, NEVER) == []
    assert len(requests.due(0.151, STATES, NEVER)) == 1
    assert not requests.over(0.16, 0.1, STATES)  # only the first order is confirmed
    assert requests.due(0.16, STATES, NEVER) == []
    assert requests.over(0.16, 0.151, STATES)
    assert requests.failures == {}


def test_pace_lets_a_burst_through_and_then_leaves_room_for_the_motors() -> None:
    limit = RateLimit(1_000_000)
    for _ in range(BURST):
        assert limit.wait(10.0) == 0.0
        limit.sent(10.0)
    assert 160e-6 < limit.wait(10.0) < 320e-6
    assert limit.wait(10.1) == 0.0


@given(st.lists(st.floats(0, 1e-3), max_size=100))
def test_pace_never_exceeds_the_share_of_the_bus(gaps) -> None:
    limit, now, sent = RateLimit(1_000_000), 0.0, 0
    for gap in gaps:
        now += gap
        now += limit.wait(now)
        limit.sent(now)
        sent += 1
    assert sent <= BURST + now * 0.6e6 / 160 + 1e-6


def test_single_motor_is_no_duplicate_after_a_hold_up_of_the_receiver() -> None:
    counts, now = FrameCounts(1, 200.0), 0.0
    for _ in range(2000):
        now += 1 / 200
        counts.received(0, now)
    now += 1.0
    for _ in range(200):
        counts.received(0, now)
    assert not counts.are_too_many(0, now)


def test_two_motors_that_send_are_a_duplicate_until_one_leaves() -> None:
    counts, now = FrameCounts(2, 200.0), 0.0
    for _ in range(1000):
        now += 1 / 400
        counts.received(1, now)
    assert counts.are_too_many(1, now)
    assert not counts.are_too_many(0, now)
    assert not counts.are_too_many(1, now + 5.0)


@pytest.mark.parametrize("passive", [False, True], ids=["active", "after the passive state"])
@pytest.mark.parametrize(
    ("event", "data", "code"),
    [
        (0x20, "0000000000000000", NOT_ACKNOWLEDGED),
        (0xA8, "0000000000000000", NOT_ACKNOWLEDGED),
        (0x88, "0000001900000000", NOT_ACKNOWLEDGED),  # the slot
        (0x88, "0000001b00000000", NOT_ACKNOWLEDGED),  # its delimiter
        (0x8C, "0020801900008000", NOT_ACKNOWLEDGED),  # sending, with the passive state
        (0x88, "0000021b00000000", ERROR_FRAMES),  # form error there
        (0x88, "0000800800000000", ERROR_FRAMES),  # in the data
        (0x88, "0000000000000000", ERROR_FRAMES),
        (0x08, "", ERROR_FRAMES),
    ],
)
def test_error_frames_tell_missing_motors_from_a_wrong_bit_rate(
    passive: bool, event: int, data: str, code: ReasonCode
) -> None:
    health = Health()
    if passive:
        health.take_error(ErrorFrame(BusEvent.CONTROLLER, bytes([0, 0x20, 0, 0])), 1.0)
    health.take_error(ErrorFrame(BusEvent(event), bytes.fromhex(data)), 1.1)
    bus = BusSettings("socketcan", "can0", 1_000_000, {}, True)
    assert health.symptom(bus, 0.5, stuck=False).codes == (code.name,)


@pytest.mark.parametrize("rate", [0.0, 200.0], ids=["answers", "talks"])
def test_duplicate_id_is_cleared_within_a_second_of_its_removal(
    rate: float,
) -> None:
    counts, now = FrameCounts(1, rate), 0.0

    def pass_time(seconds: float, motors: int) -> None:
        nonlocal now
        for _ in range(round(seconds * 200)):
            now += 1 / 200
            counts.requested(0)
            for _ in range(motors):
                counts.received(0, now)

    pass_time(60.0, 2)
    assert counts.are_too_many(0, now)
    pass_time(1.0, 1)
    assert not counts.are_too_many(0, now)


def test_two_motors_that_answer_are_a_duplicate() -> None:
    counts = FrameCounts(1, 0.0)
    for _ in range(100):
        counts.requested(0)
        counts.received(0, 0.0)
    assert not counts.are_too_many(0, 0.0)
    for _ in range(100):
        counts.requested(0)
        counts.received(0, 0.0)
        counts.received(0, 0.0)
    assert counts.are_too_many(0, 0.0)


@pytest.mark.parametrize("rate", [0.0, 100.0], ids=["answers", "talks"])
def test_two_windows_with_less_than_four_fifths_of_the_frames_are_too_few(rate: float) -> None:
    counts, now = FrameCounts(1, rate), 0.0
    share = FrameShare(counts)

    def window(arrive: int, requests: int = 100) -> tuple[float, bool]:
        """Return the share of the frames that arrive in a second, and whether it is lacking."""
        nonlocal now
        for _ in range(requests):
            counts.requested(0)
        for _ in range(arrive):
            counts.received(0, now)
        now += 1.0
        share.update(now)
        return float(share.latest[0]), bool(share.lacking[0])

    assert np.isnan(window(0)[0])  # the first one begins when the motor may be disabled
    assert window(80) == (0.8, False)
    assert window(80) == (0.8, False)
    assert window(79) == (0.79, False)
    assert window(79) == (0.79, True)
    assert window(100) == (1.0, False)
    assert window(79) == (0.79, False)
    assert window(110)[0] == 1.0
    if not rate:
        assert window(20, requests=20) == (1.0, False)
        assert np.isnan(window(0, requests=19)[0])


def test_a_window_ends_after_a_second_at_least() -> None:
    counts = FrameCounts(1, 100.0)
    share = FrameShare(counts)
    for tenth in range(20):
        share.update(10.0 + tenth / 10.0)
        assert np.isnan(share.latest[0]) == (tenth < 10)
        for _ in range(9):
            counts.received(0, 0.0)
    assert share.latest[0] == pytest.approx(0.9)


def test_only_what_was_measured_after_a_command_answers_it() -> None:
    unanswered = Unanswered(2)
    unanswered.commanded(0, 1.0)
    unanswered.answered(0, 1.0)  # at the same time: measured before
    unanswered.commanded(0, 1.1)
    assert unanswered.duration(0, 1.2) == pytest.approx(0.2)
    assert unanswered.duration(1, 1.2) == 0.0
    unanswered.answered(0, 1.15)
    assert unanswered.duration(0, 1.2) == 0.0


def test_state_keeps_what_a_frame_does_not_contain() -> None:
    state = MotorState().updated(Feedback(motor=0, velocity=1.0, effort=2.0), 1.0)
    assert not state.measured
    state = state.updated(Feedback(motor=0, position=3.0), 2.0)
    assert state.measured
    assert (state.position, state.velocity, state.effort, state.stamp) == (3.0, 1.0, 2.0, 2.0)


@given(st.sampled_from([-1.0, 1.0]), st.floats(-10, 10), st.floats(-3, 3), st.floats(-5, 5))
def test_calibration_round_trip(direction, offset, position, velocity) -> None:
    frame = JointFrame(Calibration(np.array([direction]), np.array([offset])))
    command, state = JointCommand(1), JointState(1)
    command.position[:], command.velocity[:], command.effort[:] = position, velocity, velocity
    command.stiffness[:] = 7.0
    raw = frame.to_motors(command)
    assert raw.position[0] == pytest.approx(direction * position + offset)
    assert raw.stiffness[0] == 7.0
    frame.measure([MotorState(0.0, raw.position[0], raw.velocity[0], raw.effort[0])], state)
    np.testing.assert_allclose(state.array[:, 0], [position, velocity, velocity], atol=1e-12)


def test_motor_that_was_not_measured_keeps_its_joint_state() -> None:
    frame, state = JointFrame(Calibration(np.ones(2), np.zeros(2))), JointState(2)
    state.array[:] = 9.0
    frame.measure([MotorState(0.0, 1.0, 2.0, 3.0), MotorState(position=5.0)], state)
    np.testing.assert_array_equal(state.array, [[1.0, 9.0], [2.0, 9.0], [3.0, 9.0]])
