"""The thread that serves the services of `hc load` and of `ros2 control`.

These services wait for the loop and for imports. The executor of the control process must not wait,
and every service in it would take time in every round.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from rclpy.node import Node

from humanoid_control_common.errors import ControllerError
from humanoid_control_common.machine.machine import Machine, Thread
from humanoid_control_common.machine.realtime import COMPANION_PRIORITY
from humanoid_control_common.robot.robot_namespace import checked_namespace
from humanoid_controller_manager.ros.execution.callbacks import (
    CALLBACK_ERRORS,
    CallbackExecutor,
    CallbackFailure,
)
from humanoid_controller_manager.ros.execution.executor_calls import ExecutorCalls
from humanoid_controller_manager.ros.process.ros_session import ParameterNode, RosSession
from humanoid_controller_manager.services.controller_files import ControllerFiles
from humanoid_controller_manager.services.parameter_services import ParameterServices
from humanoid_controller_manager.services.switcher import LoopChange, Switcher
from humanoid_controller_manager.switching.switch_requests import SwitchAuthority

if TYPE_CHECKING:
    from humanoid_controller_manager.ros.node import ControllerManagerNode
    from humanoid_controller_manager.services.control_services import ControlServices

MESSAGES: Final = "controller_manager_msgs"
NODE: Final = "_controller_manager_services"  # hidden: the graph shows the services at others
JOIN_TIMEOUT: Final = 1.0  # [s] the end of the process waits for a service that is being answered
PAUSE: Final = 0.05  # [s] after waiting for callbacks failed

logger = logging.getLogger(__name__)


class ServiceThread:
    """Offers the services; those of `ros2 control` if their messages are installed at the start.

    Args:
        authority: decides on switches.
    """

    def __init__(
        self, manager: ControllerManagerNode, authority: SwitchAuthority, ros: RosSession
    ) -> None:
        self._manager, self._ros = manager, ros
        self._offered = find_spec(MESSAGES) is not None
        self._services: ControlServices | None = None  # None while they are not offered
        self._parameters: ParameterServices | None = None
        guard = manager.node.create_guard_condition(self._do_calls)
        self._executor_calls = ExecutorCalls(guard.trigger, ros.machine)
        in_executor = self._executor_calls.run
        self._lifecycle = replace(
            manager.lifecycle,
            pending_controller=authority.pending_controller,
            in_executor=in_executor,
        )
        change = LoopChange(ros.machine)
        self._switcher = Switcher(manager.registry, manager.loop, authority, in_executor, change)
        self._ending = False
        self._wake: Callable[[], object] = lambda: None
        self._thread: Thread | None = None

    def start(self) -> None:
        """Begin to offer the services; log which are not."""
        self._thread = self._ros.machine.start("services", self._run)
        if not self._offered:
            logger.info(
                "no services for `ros2 control`: %s is not installed (see docs/build.md); "
                "`hc` does not need them",
                MESSAGES,
            )

    def changed(self) -> None:
        """Note that the loop changed something. Called in the executor's thread."""
        self._switcher.change.notify()
        self._publish_activity()

    def stop(self) -> None:
        """Refuse waiting calls and end the thread. Called in the executor's thread."""
        self._ending = True
        self._executor_calls.close()
        self._switcher.change.end()
        self._wake()
        if self._thread is not None:
            self._thread.join(JOIN_TIMEOUT)

    def _loaded_changed(self) -> None:
        """Follow a change of the loaded controllers. Called in the thread of the services."""
        self._publish_activity()
        if self._parameters is not None:
            records = self._manager.registry.records.values()
            self._parameters.follow([it.configured.side.node for it in records if it.configured])

    def _publish_activity(self) -> None:
        if self._services is not None:
            self._services.publish_activity()

    def _do_calls(self) -> None:
        self._executor_calls.do_all()

    def _run(self) -> None:
        if self._manager.loop_thread.realtime:
            # An ordinary thread could be suspended while it holds the interpreter.
            self._ros.machine.make_realtime(COMPANION_PRIORITY)
        # Imported late: after the robot has come up.
        from humanoid_controller_manager.services.file_services import FileServices

        if self._ending:
            return
        node = self._ros.node(NODE, services=False)
        namespace = checked_namespace(self._manager.node.get_namespace())
        files = ControllerFiles(self._lifecycle, namespace)
        FileServices(node, self._manager.node, files, self._loaded_changed)
        if self._offered:
            self._offer_control(node)
        if isinstance(node, ParameterNode):  # the stepped robot has no services of parameters
            self._parameters = ParameterServices(node)
        self._loaded_changed()
        self._spin(node)

    def _offer_control(self, node: Node) -> None:
        from humanoid_controller_manager.services.control_services import ControlServices

        self._services = ControlServices(
            node, self._manager, self._lifecycle, self._switcher, self._loaded_changed
        )
        logger.info("services for `ros2 control` are ready")

    def _spin(self, node: Node) -> None:
        """Serve until the end, then destroy what this thread made."""
        self._wake = node.create_guard_condition(lambda: None).trigger
        executor = self._ros.executor()
        executor.add_node(node)
        serve(executor, lambda: self._ending, self._note, self._ros.machine)
        self._services = None
        executor.shutdown()
        node.destroy_node()

    def _note(self, failure: CallbackFailure) -> None:
        with suppress(ControllerError):  # the process ends
            self._executor_calls.run(partial(self._manager.note_failure, failure))


def serve(
    executor: CallbackExecutor,
    ended: Callable[[], bool],
    note: Callable[[CallbackFailure], None],
    machine: Machine,
) -> None:
    """Execute callbacks until `ended`; log their failures and pass them to `note`.

    `ended` is checked after a callback: wake the executor to end it.
    """
    while not ended():
        failure = executor.execute_next(None)
        if failure is None:
            continue
        logger.error("%s", failure, exc_info=failure.error)
        try:
            note(failure)
        except CALLBACK_ERRORS:
            logger.exception("a callback's failure could not be reported")
        if failure.node is None:
            machine.sleep(PAUSE)  # no callback was executed: do not spin without a pause
