"""Valid updates, and refusals with field and index."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_control_common.robot.mit_interface import Capability
from humanoid_joint_client import joint_stream_pb2 as pb
from humanoid_joint_client.status import Status
from humanoid_joint_stream.command.update import UpdateCheck, UpdateError
from humanoid_joint_stream.controller import JointStreamController, JointStreamParameters
from humanoid_joint_stream.facts import SECOND, StreamFacts
from src.humanoid_joint_stream.test.joint_bench import (
    COUNT,
    KP,
    MS,
    PERIOD,
    Bench,
    later,
    robot_facts,
    update,
)

NOW = 5 * SECOND
VALUES = [0.0] * COUNT


def facts(capabilities: Any = None, **parameters: Any) -> StreamFacts:
    controller = JointStreamController()
    chosen = {"stiffness": 20.0, "damping": 2.0} | parameters
    controller.on_configure(JointStreamParameters(**chosen), robot_facts(capabilities))
    return controller.facts


def refusal(message: Any, known: StreamFacts | None = None) -> UpdateError:
    with pytest.raises(UpdateError) as caught:
        UpdateCheck(known or facts()).check(message, NOW)
    return caught.value


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"gains": None}, "gains: missing, and no update was accepted before with gains"),  # case 4
        ({"k_qd_p": []}, "gains.k_qd_p: 0 values, expected 3"),  # case 6
        ({"k_q_p": [1.0] * (COUNT - 1)}, "gains.k_q_p: 2 values, expected 3"),  # case 7
        ({"position": [0.0] * (COUNT + 1)}, "position: 4 values, expected 3"),  # case 7
        ({"load": []}, "load: 0 values, expected 3"),  # case 7
        ({"velocity": [0.0] * 100_000}, "velocity: 100000 values, expected 3"),  # case 41
        ({"end_time": None}, "end_time: missing"),  # case 8
        ({"velocity_safety_limit": 0.0}, "velocity_safety_limit: 0"),  # case 23
        ({"velocity_safety_limit": -1.0}, "velocity_safety_limit: -1"),  # case 23
        ({"velocity_safety_limit": np.nan}, "velocity_safety_limit: nan"),
        ({"velocity_safety_limit": np.inf}, "velocity_safety_limit: inf"),
        ({"k_q_p": [1.0, -1.0, 1.0]}, "gains.k_q_p[1]: -1, expected 0 or more"),
        ({"extrapolation_duration": -1}, "extrapolation_duration: -1 ns"),
        ({"contact_advice": [1]}, "contact_advice"),
    ],
)
def test_a_wrong_field_is_invalid_and_named(changes: Any, text: str) -> None:
    """Cases 4, 6, 7, 8, 23: INVALID_REQUEST, and the stream ends."""
    error = refusal(update(NOW, **changes))
    assert error.status is Status.INVALID_REQUEST
    assert text in str(error)
    assert error.ends_stream


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e200])
@pytest.mark.parametrize("field", ["position", "velocity", "load", "k_q_p", "k_qd_p"])
def test_a_broken_number_is_refused_without_ending_the_stream(field: str, value: float) -> None:
    """Case 21."""
    error = refusal(update(NOW, **{field: [0.0, 0.0, value]}))
    assert (error.status, error.ends_stream) == (Status.INVALID_REQUEST, False)
    assert f"{field}[2]" in str(error)


def test_an_update_that_ended_before_its_receipt_is_expired() -> None:
    """Case 9."""
    late = refusal(update(NOW, end_time=NOW - 10 * MS))
    assert late.status is Status.EXPIRED
    assert "10.0 ms before the receipt: the update was too long under way, or" in str(late)
    assert refusal(update(NOW, end_time=NOW)).status is Status.EXPIRED
    UpdateCheck(facts()).check(update(NOW, end_time=NOW + 1), NOW)


def test_an_end_far_ahead_is_too_distant() -> None:
    """Case 10."""
    assert refusal(update(NOW, end_time=NOW + 10 * SECOND)).status is Status.TOO_DISTANT
    assert refusal(update(NOW, end_time=NOW + SECOND + 1)).status is Status.TOO_DISTANT
    UpdateCheck(facts()).check(update(NOW, end_time=NOW + SECOND), NOW)
    near = facts(max_horizon=0.2)
    assert refusal(update(NOW, end_time=NOW + 201 * MS), near).status is Status.TOO_DISTANT


def test_gains_are_stored_and_replaced_as_a_whole() -> None:
    """Case 5, the part of the check."""
    check = UpdateCheck(facts())
    first = check.check(update(NOW), NOW)
    assert check.check(later(NOW), NOW).command.rows.tolist() == first.command.rows.tolist()
    check.check(update(NOW, k_q_p=[1.0, 2.0, 3.0]), NOW)
    assert check.check(later(NOW), NOW).command.rows[3].tolist() == [1.0, 2.0, 3.0]


def test_an_update_after_a_refused_first_one_needs_gains() -> None:
    check = UpdateCheck(facts())
    with pytest.raises(UpdateError):
        check.check(update(NOW, position=[0.0, 0.0, np.nan]), NOW)
    with pytest.raises(UpdateError, match="no update was accepted before with gains"):
        check.check(later(NOW), NOW)


def test_gains_of_a_refused_update_are_not_stored() -> None:
    check = UpdateCheck(facts())
    check.check(update(NOW), NOW)
    with pytest.raises(UpdateError):
        check.check(update(NOW, k_q_p=[9.0] * COUNT, position=[np.nan] * COUNT), NOW)
    assert check.check(later(NOW), NOW).command.rows[3].tolist() == [KP] * COUNT


def test_a_horizon_of_less_than_two_ticks_is_noted() -> None:
    check = UpdateCheck(facts())
    assert check.check(update(NOW, end_time=NOW + 2 * PERIOD - 1), NOW).short_horizon
    assert not check.check(update(NOW, end_time=NOW + 2 * PERIOD), NOW).short_horizon


def like_erob() -> Any:
    """The last joint takes positions only, and has the gains of the mode."""
    acts = np.full((5, COUNT), Capability.PER_TICK)
    acts[1:, -1] = (Capability.NEVER, Capability.NEVER, Capability.PER_MODE, Capability.PER_MODE)
    return acts


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"load": [0.0, 0.0, 0.1]}, "load[2]: 0.1 Nm, expected 0: wrist takes no load"),
        ({"k_q_p": [1.0, 1.0, 30.0]}, "gains.k_q_p[2]: 30, expected 20: wrist"),
        ({"k_q_p": [1.0, 1.0, 20.0], "k_qd_p": [1.0] * 3}, "gains.k_qd_p[2]: 1, expected 2"),
    ],
)
def test_values_that_do_not_act_on_a_joint_are_refused_as_unsupported(
    changes: Any, text: str
) -> None:
    """Case 36."""
    error = refusal(update(NOW, **changes), facts(like_erob()))
    assert error.status is Status.UNSUPPORTED
    assert text in str(error)


def test_values_that_act_on_every_joint_are_accepted() -> None:
    kp, kd = [5.0, 5.0, 20.0], [1.0, 1.0, np.float32(2.0)]
    message = update(NOW, load=[1.0, 1.0, 0.0], velocity=[1.0] * 3, k_q_p=kp, k_qd_p=kd)
    UpdateCheck(facts(like_erob())).check(message, NOW)


def test_values_that_do_not_act_on_a_joint_are_ignored_if_configured() -> None:
    """Case 36, `ignore_unsupported`: the joint keeps position and the gains of the mode."""
    bench = Bench(like_erob(), ignore_unsupported=True).following()
    bench.send(update(bench.now, load=[5.0] * 3, velocity=[1.0] * 3))
    rows = bench.tick().array
    assert rows[:, -1].tolist() == [0.1, 0.0, 0.0, 20.0, 2.0]
    assert rows[:, 0].tolist() == [0.1, 1.0, 5.0, 30.0, 3.0]


FINITE = st.floats(allow_nan=True, allow_infinity=True)
ARRAYS = st.lists(FINITE, min_size=0, max_size=COUNT + 1)


@given(
    position=ARRAYS,
    velocity=ARRAYS,
    load=ARRAYS,
    kp=ARRAYS,
    kd=ARRAYS,
    end=st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1)),
    reference=st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1)),
    extrapolation=st.integers(-(2**63), 2**63 - 1),
)
def test_accepted_update_gives_a_valid_command_at_any_time(
    position: list[float],
    velocity: list[float],
    load: list[float],
    kp: list[float],
    kd: list[float],
    end: int | None,
    reference: int | None,
    extrapolation: int,
) -> None:
    """Case 41, on the core: no accepted update leads to an invalid command."""
    bench = Bench().following()
    fields = {"position": position, "velocity": velocity, "load": load}
    message = pb.Update(
        end_time=end,
        reference_time=reference,
        extrapolation_duration=extrapolation,
        gains=pb.Gains(k_q_p=kp, k_qd_p=kd),
        **fields,
    )
    for received in (
        message,
        update(bench.now, **{k: v for k, v in fields.items() if len(v) == 3}),
    ):
        bench.send(received)
        for _ in range(3):
            assert bench.tick().is_valid()


@given(st.binary(max_size=300))
def test_random_bytes_are_no_message_or_are_refused(data: bytes) -> None:
    """Case 41, on the core."""
    try:
        message = pb.Update.FromString(data)
    except Exception as error:
        assert type(error).__name__ == "DecodeError"
        return
    assert refusal(message).status is not Status.OK
