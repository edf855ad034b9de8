"""The service of the ordered power-down: it answers when the hardware is deactivated, or is not."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future
from threading import Event
from typing import Any, Final, NamedTuple

from rclpy.node import Node
from std_srvs.srv import Trigger

from humanoid_controller_manager.deferred_service import DeferredService
from humanoid_controller_manager.ending import Ending
from humanoid_controller_manager.snapshot import Snapshot
from humanoid_controllers.power_down import PowerDown

SERVICE: Final = "/humanoid_control/power_down"
ANSWER_TIME: Final = 1.0  # [s] for whoever asked to hear the answer and leave
LOOK_PERIOD: Final = 0.01  # [s]
ADVICE: Final = "cut the power of the drives"


class Outcome(NamedTuple):
    """What whoever asked is told."""

    success: bool
    message: str


class PowerDownService:
    """Begins the way down at the first request and answers every one at the end.

    Args:
        begin: makes the way down, and refuses everything else from then on.
        deactivate: asks the process to end, which deactivates the hardware.
    """

    def __init__(
        self, node: Node, begin: Callable[[], PowerDown], deactivate: Callable[[], None]
    ) -> None:
        self._begin, self._deactivate = begin, deactivate
        self._node, self._pause = node, Event()
        self._logger = node.get_logger()
        self._way: PowerDown | None = None
        self._outcome: Future[Outcome] = Future()
        self._service = DeferredService(node, Trigger, SERVICE, self._asked, _fill)

    @property
    def has_begun(self) -> bool:
        """Whether somebody has asked for it."""
        return self._way is not None

    def begin(self) -> None:
        """Begin, whoever asks; what has begun goes on."""
        if self._way is None:
            self._way = self._begin()
            self._logger.info("powering down: DAMPING until the joints are slow, then no torque")

    def look(self, snapshot: Snapshot, now: float) -> None:
        """Go on, if somebody has asked for it."""
        if self._way is not None and self._way.look(snapshot, now):
            self._deactivate()

    def ended(self, ending: Ending) -> None:
        """The hardware was deactivated, or was not: answer."""
        if self._way is not None:
            for remark in self._way.remarks:
                self._logger.warning(f"powering down: {remark}")  # noqa: G004
            self._outcome.set_result(outcome_of(ending, self._way.remarks))
            self._service.answer()
            self._wait_for_readers()

    def _wait_for_readers(self) -> None:
        """The end of this process would take back an answer that has not arrived yet."""
        deadline = time.monotonic() + ANSWER_TIME
        while self._node.count_clients(SERVICE) and time.monotonic() < deadline:
            self._pause.wait(LOOK_PERIOD)

    def _asked(self, _: object) -> Future[Outcome]:
        self.begin()
        return self._outcome


def outcome_of(ending: Ending, remarks: list[str]) -> Outcome:
    """`ending` in words, with the `remarks` of the way down."""
    if ending.failure:
        text = [f"{ending.failure}: {ADVICE}"]
        if ending.in_order:
            text.append(f"without torque: {', '.join(ending.in_order)}")
    else:
        text = [f"all joints are without torque: {', '.join(ending.in_order)}"]
    return Outcome(not ending.failure, "; ".join([*text, *remarks]))


def _fill(outcome: Outcome, response: Any) -> None:
    response.success, response.message = outcome
