"""Inference in a thread beside the control loop, connected by single slots."""

import logging
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from humanoid_control_common.machine.lock_event import LockEvent
from humanoid_control_common.machine.machine import Machine, Thread
from humanoid_control_common.machine.realtime import INFERENCE_PRIORITY
from humanoid_control_common.robot.joints import FloatArray
from humanoid_controller_manager.loop.latest_value import LatestValue
from humanoid_policy.observation.inputs import ObservationInputs

# [s] an end waits for the thread: less than the loop waits for its ROS side.
JOIN_TIMEOUT: Final = 0.1

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, eq=False)
class InferenceRequest:
    """The input of the policy in one policy step."""

    step: int
    inputs: ObservationInputs  # its arrays are never written again


@dataclass(frozen=True, slots=True, eq=False)
class InferenceResult:
    """The action of one policy step."""

    step: int
    action: FloatArray | None  # (m,); None: it could not be computed
    error: str = ""  # why not


class Inference:
    """Compute one action at a time for the loop.

    The loop calls `ask`, `answer`, `waited` and `give_up`; another thread calls `run`, or `step`
    instead of it. With `at_once` no other thread is needed: `ask` computes the result itself.
    `clock` [s] measures how long a request has waited.

    Args:
        compute: returns the action, (m,), of the inputs.
        interrupt: makes `compute` raise soon, while it runs too; with False no longer.
    """

    def __init__(
        self,
        compute: Callable[[ObservationInputs], FloatArray],
        interrupt: Callable[[bool], None] = lambda on: None,
    ) -> None:
        self.compute = compute
        self._interrupt = interrupt
        self._given_up = False
        self._thread: Thread | None = None
        self.at_once = False
        self.clock: Callable[[], float] | None = None
        self._asked_at = -math.inf  # [s] of `clock`
        self._asked: LatestValue[InferenceRequest] = LatestValue()
        self._answered: LatestValue[InferenceResult] = LatestValue()
        self._wake = LockEvent()  # a request waits, or the end
        self._closed = False

    def ask(self, step: int, inputs: ObservationInputs) -> None:
        """Leave a request in place of one that was not taken."""
        self._given_up = False
        self._interrupt(False)
        self._asked.put(InferenceRequest(step, inputs))
        if self.clock is not None:
            self._asked_at = self.clock()
        if self.at_once:
            self.step()
        else:
            self._wake.set()

    def answer(self, step: int) -> InferenceResult | None:
        """Return the result of policy step `step`, None if it is not there. Others are dropped."""
        found = self._answered.take()
        return found if found is not None and found.step == step else None

    def waited(self) -> float:
        """Return the time since the latest request [s], infinity without a clock."""
        return math.inf if self.clock is None else self.clock() - self._asked_at

    def give_up(self) -> None:
        """Interrupt the inference: its result would come too late."""
        self._given_up = True
        self._interrupt(True)

    def start(self, machine: Machine) -> None:
        """Start the thread that calls `run`."""
        self.clock = machine.clock
        self._thread = machine.start("policy", lambda: self.run(machine))

    def close(self) -> None:
        """End `run`, and wait for its thread; log one that does not end. Called by any thread."""
        self._closed = True
        self.give_up()
        self._wake.set()
        if self._thread is None:
            return
        self._thread.join(JOIN_TIMEOUT)
        if self._thread.is_alive():
            logger.error(
                "the inference of a policy has not ended: it occupies a processor until it ends"
            )

    def run(self, machine: Machine) -> None:
        """Serve requests until `close` is called."""
        machine.make_realtime(INFERENCE_PRIORITY)  # the loop's thread reports the result
        while not self._closed:
            machine.wait(self._wake)
            self._wake.clear()  # first: a later request wakes the thread again
            self.step()

    def step(self) -> None:
        """Serve the request that waits, if there is one."""
        request = self._asked.take()
        if request is None:
            return
        try:
            result = InferenceResult(request.step, self.compute(request.inputs))
        except Exception as error:  # ONNX Runtime's errors have no common class
            if not self._given_up:
                logger.exception("the inference of a policy failed")
            result = InferenceResult(request.step, None, str(error))
        self._answered.put(result)
