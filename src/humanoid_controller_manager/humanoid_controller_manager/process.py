"""The control process: one loop, its node, and companions such as the mode manager."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from threading import Event
from typing import Protocol

from rclpy.node import Node

from humanoid_control_common.waking import kept_awake
from humanoid_controller_manager.authority import LoopAuthority, SwitchAuthority
from humanoid_controller_manager.domain_lock import take_domain_lock
from humanoid_controller_manager.ending import Ending, ToldOfTheEnd, end_of
from humanoid_controller_manager.loop import ControlLoop
from humanoid_controller_manager.node import ControllerManagerNode
from humanoid_controller_manager.parameters import parameter_files
from humanoid_controller_manager.realtime import COMPANION_PRIORITY, make_thread_realtime
from humanoid_controller_manager.ros_logging import forward_logging
from humanoid_controller_manager.ros_node import exit_code, ros_session
from humanoid_controller_manager.service_thread import ServiceThread

SPIN_TIMEOUT = 0.05  # [s]: at least four heartbeats within the loop's limit of 200 ms


class Companion(Protocol):
    """Something beside the controller manager, with a node of its own."""

    node: Node

    def changed(self) -> None:
        """Mode, phase or safety of the latest snapshot changed. Called in the executor's thread."""


# Given the manager and a function that asks the process to end.
MakeCompanion = Callable[[ControllerManagerNode, Callable[[], None]], Companion]


def run(make_companions: Sequence[MakeCompanion], arguments: Sequence[str], stop: Event) -> int:
    """Run the control process until `stop` is set. Returns the exit code.

    Wrong configuration and hardware that does not come up end in a sentence on stderr and code 1.
    The end is always in order: loop, hardware, nodes.
    """
    return exit_code(partial(_run, make_companions, arguments, stop))


def _run(make_companions: Sequence[MakeCompanion], arguments: Sequence[str], stop: Event) -> int:
    files = parameter_files(arguments)
    with take_domain_lock(), ros_session(arguments):
        return _spin(ControllerManagerNode(files), make_companions, stop)


def _stop(manager: ControllerManagerNode, companions: Sequence[Companion]) -> Ending:
    """Stop the loop, disable the joints, and tell who wants to know."""
    ending = end_of(manager)
    if ending.failure:
        manager.node.get_logger().fatal(ending.failure)
    for companion in companions:
        if isinstance(companion, ToldOfTheEnd):
            companion.ended(ending)
    return ending


def authority_of(companions: Sequence[object], loop: ControlLoop) -> SwitchAuthority:
    """The companion that decides on switches; without one the loop alone does."""
    deciding = (c for c in companions if isinstance(c, SwitchAuthority))
    return next(deciding, None) or LoopAuthority(loop)


def _spin(
    manager: ControllerManagerNode, make_companions: Sequence[MakeCompanion], stop: Event
) -> int:
    logger = manager.node.get_logger()
    forward_logging(logger)
    companions = [make(manager, stop.set) for make in make_companions]
    executor = manager.executor
    for companion in companions:
        executor.add_node(companion.node)
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
            make_thread_realtime(COMPANION_PRIORITY)  # the loop's thread says what it got
        services.start()
        facts = manager.robot
        logger.info(f"{len(facts.joints)} joints at {facts.update_rate:g} Hz")  # noqa: G004
        with kept_awake(executor):
            while not stop.is_set() and manager.runner.is_running():
                executor.spin_once(timeout_sec=SPIN_TIMEOUT)
                manager.loop.heartbeat()
    finally:
        ending = _stop(manager, companions)
        services.stop()
    if ending.failure:
        return 1
    if manager.runner.failure is not None:
        logger.fatal(f"the control loop died: {manager.runner.failure!r}")
        return 1
    logger.info("stopped: all joints are without torque")
    return 0
