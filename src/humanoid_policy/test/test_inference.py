"""The hand-over between loop and inference: one request, one answer, no waiting."""

from __future__ import annotations

import logging
import threading

import numpy as np
import pytest
from test_support.policies import policy_model

from humanoid_control_common.machine.linux import LINUX
from humanoid_control_common.robot.joints import FloatArray
from humanoid_policy.inference import Inference
from humanoid_policy.model import PolicyModel
from humanoid_policy.observation.inputs import ObservationInputs


def inputs(value: float) -> ObservationInputs:
    row = np.full(3, value)
    return ObservationInputs(row, row, row, row)


def doubled(asked: ObservationInputs) -> FloatArray:
    return 2.0 * asked.position


def test_a_request_for_an_inference_is_answered_once() -> None:
    inference = Inference(doubled)
    inference.ask(1, inputs(1.5))
    assert inference.answer(1) is None
    inference.step()
    answer = inference.answer(1)
    assert answer is not None
    assert answer.action == pytest.approx([3.0, 3.0, 3.0])
    inference.step()
    assert inference.answer(1) is None


def test_an_answer_of_another_step_is_dropped() -> None:
    inference = Inference(doubled)
    inference.ask(1, inputs(1.0))
    inference.step()
    inference.ask(2, inputs(2.0))
    assert inference.answer(2) is None
    inference.step()
    answer = inference.answer(2)
    assert answer is not None
    assert answer.action == pytest.approx([4.0, 4.0, 4.0])


def test_an_error_is_an_answer_without_action(caplog: pytest.LogCaptureFixture) -> None:
    def fail(asked: ObservationInputs) -> FloatArray:
        raise RuntimeError("no memory")

    inference = Inference(fail)
    inference.ask(1, inputs(1.0))
    with caplog.at_level(logging.ERROR):
        inference.step()
    answer = inference.answer(1)
    assert answer is not None
    assert answer.action is None
    assert answer.error == "no memory"
    assert "the inference of a policy failed" in caplog.text


@pytest.fixture
def endless(properties: dict[str, str]) -> Inference:
    """An inference that has no end for inputs above zero."""
    model = PolicyModel(policy_model(properties, endless_for=0.5), "policy.onnx")
    size = model.observation.size
    return Inference(
        lambda inputs: model.infer(np.full(size, inputs.position[0], dtype=np.float32)),
        model.interrupt,
    )


def test_an_inference_without_an_end_is_given_up_and_the_next_one_answered(
    endless: Inference, caplog: pytest.LogCaptureFixture
) -> None:
    endless.start(LINUX)
    endless.ask(1, inputs(1.0))
    endless.give_up()
    answer = None
    while answer is None:
        answer = endless.answer(1)
    assert answer.action is None
    endless.ask(2, inputs(0.0))
    answer = None
    while answer is None:
        answer = endless.answer(2)
    assert answer.action is not None
    endless.close()
    assert not caplog.records


def test_an_inference_without_an_end_ends_with_its_thread(endless: Inference) -> None:
    thread = LINUX.start("policy", lambda: endless.run(LINUX))
    endless.ask(1, inputs(1.0))
    endless.close()
    thread.join()
    assert not thread.is_alive()


def test_a_thread_that_does_not_end_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    begun, end = threading.Event(), threading.Event()

    def hang(asked: ObservationInputs) -> FloatArray:
        begun.set()
        end.wait()
        return doubled(asked)

    inference = Inference(hang)
    inference.start(LINUX)
    inference.ask(1, inputs(1.0))
    begun.wait()
    inference.close()
    end.set()
    (record,) = caplog.records
    assert record.levelno == logging.ERROR


def test_an_inference_ends_at_once_on_a_simulated_clock() -> None:
    inference = Inference(doubled)
    inference.at_once = True
    inference.ask(1, inputs(1.5))
    answer = inference.answer(1)
    assert answer is not None
    assert answer.action == pytest.approx([3.0, 3.0, 3.0])


def test_the_thread_answers_until_it_is_closed() -> None:
    inference = Inference(doubled)
    inference.ask(1, inputs(7.0))
    thread = LINUX.start("policy", lambda: inference.run(LINUX))
    answer = None
    while answer is None and thread.is_alive():
        answer = inference.answer(1)
    assert answer is not None
    assert answer.action == pytest.approx([14.0, 14.0, 14.0])
    inference.close()
    thread.join()


def test_a_thread_that_waits_ends_when_it_is_closed() -> None:
    inference = Inference(doubled)
    thread = LINUX.start("policy", lambda: inference.run(LINUX))
    inference.close()
    thread.join()
    assert not thread.is_alive()
