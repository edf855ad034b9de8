"""A thread of its own for the services of `ros2 control`.

They may wait for the loop, and for imports: the executor of the control process must not. Nor does
it pay for them: every service would cost it time in every round.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from rclpy.node import Node

from humanoid_control_common.errors import ControllerError
from humanoid_controller_manager.authority import SwitchAuthority
from humanoid_controller_manager.callbacks import (
    CALLBACK_ERRORS,
    CallbackExecutor,
    CallbackFailure,
)
from humanoid_controller_manager.errands import Errands
from humanoid_controller_manager.realtime import COMPANION_PRIORITY, make_thread_realtime
from humanoid_controller_manager.ros_node import configured_node
from humanoid_controller_manager.switcher import Switcher

if TYPE_CHECKING:
    from humanoid_controller_manager.control_services import ControlServices
    from humanoid_controller_manager.node import ControllerManagerNode

MESSAGES: Final = "controller_manager_msgs"
NODE: Final = "_controller_manager_services"  # hidden: the services carry the manager's name
PATIENCE: Final = 1.0  # [s] the end of the process waits for a service that is being answered
PAUSE: Final = 0.05  # [s] after waiting for callbacks failed

logger = logging.getLogger(__name__)


class ServiceThread:
    """Offers the services where their messages are installed, which is looked up once.

    Args:
        authority: decides on switches.
    """

    def __init__(self, manager: ControllerManagerNode, authority: SwitchAuthority) -> None:
        self._manager = manager
        self._offered = find_spec(MESSAGES) is not None
        self._services: ControlServices | None = None  # once they are there
        guard = manager.node.create_guard_condition(self._do_errands)
        self._errands = Errands(guard.trigger)
        self._lifecycle = replace(
            manager.lifecycle, asked_for=authority.asked_for, in_executor=self._errands.run
        )
        self._switcher = Switcher(manager.registry, manager.loop, authority, self._errands.run)
        self._ending = False
        self._wake: Callable[[], object] = lambda: None
        self._thread = threading.Thread(target=self._run, name="services", daemon=True)

    def start(self) -> None:
        """Begin to offer the services, or say why they are not."""
        if self._offered:
            self._thread.start()
        else:
            logger.info(
                "no services for `ros2 control`: %s is not installed; docs/build.md says how, and "
                "`hc` does without",
                MESSAGES,
            )

    def changed(self) -> None:
        """The loop changed something. Called in the executor's thread."""
        self._switcher.bell.ring()
        if self._services is not None:
            self._services.publish_activity()

    def stop(self) -> None:
        """Refuse what waits and end the thread. Called in the executor's thread."""
        self._ending = True
        self._errands.close()
        self._switcher.bell.end()
        self._wake()
        if self._thread.is_alive():
            self._thread.join(PATIENCE)

    def _do_errands(self) -> None:
        self._errands.do_all()

    def _run(self) -> None:
        if self._manager.runner.realtime:
            # An ordinary thread could be made to wait while it holds the interpreter.
            make_thread_realtime(COMPANION_PRIORITY)
        # Not at the top: only where it is installed, and not before the robot is up.
        from humanoid_controller_manager.control_services import ControlServices

        if self._ending:
            return
        node = configured_node(NODE, services=False)
        services = ControlServices(node, self._manager, self._lifecycle, self._switcher)
        services.publish_activity()
        self._services = services
        logger.info("services for `ros2 control` are ready")
        self._spin(node)

    def _spin(self, node: Node) -> None:
        """Serve until the end; what this thread made it also takes apart."""
        self._wake = node.create_guard_condition(lambda: None).trigger
        executor = CallbackExecutor()
        executor.add_node(node)
        serve(executor, lambda: self._ending, self._tell)
        self._services = None
        executor.shutdown()
        node.destroy_node()

    def _tell(self, failure: CallbackFailure) -> None:
        with suppress(ControllerError):  # the process ends
            self._errands.run(partial(self._manager.note_failure, failure))


def serve(
    executor: CallbackExecutor, ended: Callable[[], bool], tell: Callable[[CallbackFailure], None]
) -> None:
    """Execute callbacks until it has `ended`; what one raises is logged and told.

    The end is noticed after a callback: one has to wake the executor.
    """
    while not ended():
        failure = executor.execute_next(None)
        if failure is None:
            continue
        logger.error("%s", failure, exc_info=failure.error)
        try:
            tell(failure)
        except CALLBACK_ERRORS:
            logger.exception("a callback's failure could not be told")
        if failure.node is None:
            time.sleep(PAUSE)  # nothing was executed: this would go on without a pause
