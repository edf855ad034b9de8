"""The control process: one loop, its node, and companions such as the mode manager."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial

from humanoid_control_common.waking import kept_awake
from humanoid_controller_manager.callbacks import (
    CALLBACK_ERRORS,
    CallbackFailure,
    FailureGuard,
)
from humanoid_controller_manager.companion import (
    Companion,
    any_leads_down,
    authority_of,
    way_down_of,
)
from humanoid_controller_manager.domain_lock import take_domain_lock
from humanoid_controller_manager.ending import Ending, end_of
from humanoid_controller_manager.node import ControllerManagerNode
from humanoid_controller_manager.parameters import parameter_files
from humanoid_controller_manager.realtime import make_ros_side_realtime
from humanoid_controller_manager.ros_logging import forward_logging
from humanoid_controller_manager.ros_node import exit_code, ros_session
from humanoid_controller_manager.service_thread import ServiceThread
from humanoid_controller_manager.stopping import EndRequests

SPIN_TIMEOUT = 0.05  # [s]: at least four heartbeats within the loop's limit of 200 ms


# Given the manager and a function that asks the process to end.
MakeCompanion = Callable[[ControllerManagerNode, Callable[[], None]], Companion]


def run(
    make_companions: Sequence[MakeCompanion], arguments: Sequence[str], end: EndRequests
) -> int:
    """Run the control process until it is asked to `end`. Returns the exit code.

    Wrong configuration and hardware that does not come up end in a sentence on stderr and code 1.
    At the end, loop, hardware and nodes always go in this order.
    """
    return exit_code(partial(_run, make_companions, arguments, end))


def _run(
    make_companions: Sequence[MakeCompanion], arguments: Sequence[str], end: EndRequests
) -> int:
    files = parameter_files(arguments)
    with take_domain_lock(), ros_session(arguments):
        manager = ControllerManagerNode(files)
        if end.in_order or end.at_once:
            return 0  # nothing has torque yet, and nothing shall
        return _spin(manager, make_companions, end)


def _stop(manager: ControllerManagerNode, companions: Sequence[Companion]) -> Ending:
    """Stop the loop, disable the joints, and tell who wants to know."""
    ending = end_of(manager)
    if ending.failure:
        manager.node.get_logger().fatal(ending.failure)
    for companion in companions:
        companion.ended(ending)
    return ending


def _execute(
    manager: ControllerManagerNode, companions: Sequence[Companion], end: EndRequests
) -> bool:
    """Execute callbacks until the loop has ended, or shall at once. Whether all went well."""
    lead_down = way_down_of(companions, end)
    guard = FailureGuard(
        manager.close_plugin, manager.loop.leave, end, lead_down=any_leads_down(companions)
    )
    with kept_awake(manager.executor):
        while not end.at_once and manager.runner.is_running():
            failure = manager.executor.execute_next(SPIN_TIMEOUT)
            if failure is None or failure.node is not None:
                manager.loop.heartbeat()
            else:
                time.sleep(SPIN_TIMEOUT)  # nothing was executed: this would go on without a pause
            if end.in_order:
                failure = _led_down(lead_down) or failure
            if failure is not None:
                guard.take(failure, time.monotonic())
            guard.look(time.monotonic())
    return not guard.failed


def _led_down(lead_down: Callable[[], None]) -> CallbackFailure | None:
    try:
        lead_down()
    except CALLBACK_ERRORS as error:
        return CallbackFailure(None, "'lead_down'", error)
    return None


def _spin(
    manager: ControllerManagerNode, make_companions: Sequence[MakeCompanion], end: EndRequests
) -> int:
    logger = manager.node.get_logger()
    forward_logging(logger)
    companions = [make(manager, end.end_at_once) for make in make_companions]
    for companion in companions:
        manager.executor.add_node(companion.node)
    services = ServiceThread(manager, authority_of(companions, manager.loop))

    def changed() -> None:
        manager.publish_safety()
        for companion in companions:
            companion.changed()
        services.changed()

    manager.loop.on_change = manager.node.create_guard_condition(changed).trigger
    manager.start()
    try:  # from here on the joints may have torque
        if manager.runner.realtime:
            make_ros_side_realtime()  # the loop's thread says what it got
        services.start()
        facts = manager.robot
        logger.info(f"{len(facts.joints)} joints at {facts.update_rate:g} Hz")  # noqa: G004
        well = _execute(manager, companions, end)
    finally:
        ending = _stop(manager, companions)
        services.stop()
    if ending.failure or not well:
        return 1
    if manager.runner.failure is not None:
        logger.fatal(f"the control loop died: {manager.runner.failure!r}")
        return 1
    logger.info("stopped: all joints are without torque")
    return 0
