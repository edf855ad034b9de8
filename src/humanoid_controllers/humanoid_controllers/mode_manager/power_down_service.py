"""The service /humanoid_control/power_down. It answers after the deactivation of the hardware."""

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Final, NamedTuple

from rclpy.node import Node
from std_srvs.srv import Trigger

from humanoid_control_common.machine.machine import Machine
from humanoid_controller_manager.loop.snapshot import Snapshot
from humanoid_controller_manager.ros.execution.deferred_service import DeferredService
from humanoid_controller_manager.ros.process.shutdown_report import ShutdownReport
from humanoid_controllers.mode_manager.power_down import PowerDown

SERVICE: Final = "humanoid_control/power_down"
ANSWER_TIME: Final = 1.0  # [s] for clients to receive the answer and leave
POLL_PERIOD: Final = 0.01  # [s]
ADVICE: Final = "cut the power of the drives"


class Outcome(NamedTuple):
    """The fields of the response."""

    success: bool
    message: str


class PowerDownService:
    """Begins the way down at the first request; answers all requests at its end.

    Args:
        begin: returns the way down; the mode manager refuses all other requests from then on.
        deactivate: requests the end of the process, which deactivates the hardware.
    """

    def __init__(
        self,
        node: Node,
        begin: Callable[[], PowerDown],
        deactivate: Callable[[], None],
        machine: Machine,
    ) -> None:
        self._begin, self._deactivate = begin, deactivate
        self._node, self._machine = node, machine
        self._logger = node.get_logger()
        self._power_down: PowerDown | None = None
        self._outcome: Future[Outcome] = Future()
        self._service = DeferredService(node, Trigger, SERVICE, self._on_request, _fill)

    @property
    def has_begun(self) -> bool:
        """True once the way down has begun."""
        return self._power_down is not None

    def begin(self) -> None:
        """Begin the way down, unless it has begun."""
        if self._power_down is None:
            self._power_down = self._begin()
            self._logger.info("powering down: DAMPING until the joints are slow, then no torque")

    def advance(self, snapshot: Snapshot, now: float) -> None:
        """Continue the way down, if it has begun. See PowerDown.advance."""
        if self._power_down is not None and self._power_down.advance(snapshot, now):
            self._deactivate()

    def ended(self, report: ShutdownReport) -> None:
        """Answer with `report`, and wait until the clients have read it."""
        if self._power_down is None:
            return
        remarks = self._power_down.remarks
        for remark in remarks:
            self._logger.warning(f"powering down: {remark}")  # noqa: G004
        self._outcome.set_result(outcome_of(report, remarks))
        self._service.answer()
        # The end of this process would take back an answer that has not arrived yet.
        clock = self._machine.clock
        deadline = clock() + ANSWER_TIME
        while self._node.count_clients(SERVICE) and clock() < deadline:
            self._machine.sleep(POLL_PERIOD)

    def _on_request(self, _: object) -> Future[Outcome]:
        self.begin()
        return self._outcome


def outcome_of(report: ShutdownReport, remarks: list[str]) -> Outcome:
    """Return `report` in words, with the `remarks` of the way down."""
    if report.failure:
        text = [f"{report.failure}: {ADVICE}"]
        if report.in_order:
            text.append(f"without torque: {', '.join(report.in_order)}")
    else:
        text = [f"all joints are without torque: {', '.join(report.in_order)}"]
    return Outcome(not report.failure, "; ".join([*text, *remarks]))


def _fill(outcome: Outcome, response: Any) -> None:
    response.success, response.message = outcome
