"""The control process: one loop, its node, and companions such as the mode manager."""

from collections.abc import Callable, Sequence
from functools import partial
from math import inf

from humanoid_control_common.configuration.config import Document
from humanoid_control_common.configuration.parameter_files import parameter_files
from humanoid_control_common.machine.output import never_wait_for_readers
from humanoid_control_common.machine.start_permission import StartPermission, Step
from humanoid_control_common.middleware.executor_wakeup import kept_awake
from humanoid_control_common.robot.domain_lock import take_domain_lock
from humanoid_control_common.robot.robot_namespace import namespace_of
from humanoid_control_common.tick_records.record_file import RecordStore
from humanoid_controller_manager.hardware.hardware_group import MakeComponent
from humanoid_controller_manager.ros.execution.callbacks import (
    CALLBACK_ERRORS,
    CallbackFailure,
    FailureGuard,
    ListenerHangsError,
)
from humanoid_controller_manager.ros.node import ControllerManagerNode
from humanoid_controller_manager.ros.process.companion import (
    Companion,
    any_leads_down,
    authority_of,
    way_down_of,
)
from humanoid_controller_manager.ros.process.end_requests import EndRequests
from humanoid_controller_manager.ros.process.ros_session import RosSession, exit_code, ros_session
from humanoid_controller_manager.ros.process.shutdown_report import ShutdownReport, stop_and_report
from humanoid_controller_manager.ros.topics.snapshot_publisher import HANGING
from humanoid_controller_manager.services.service_thread import ServiceThread

SPIN_TIMEOUT = 0.05  # [s]: at least four heartbeats within the loop's limit of 200 ms
LONGEST_CALLBACK = 1.0  # [s] after which a signal that requests the end interrupts a callback


# Takes the manager, the session for its node and a function that requests the end of the process.
MakeCompanion = Callable[[ControllerManagerNode, RosSession, Callable[[], None]], Companion]


def run(
    make_companions: Sequence[MakeCompanion],
    arguments: Sequence[str],
    end: EndRequests,
    permission: StartPermission,
) -> int:
    """Run the control process until its `end` is requested; return the exit code.

    Without `permission` for a step it ends before the step.

    Wrong configuration, and hardware that cannot be activated, write a sentence to stderr and
    return 1. The process always ends in the order loop, hardware, nodes.
    """
    never_wait_for_readers()
    return exit_code(partial(_run, make_companions, arguments, end, permission))


def _run(
    make_companions: Sequence[MakeCompanion],
    arguments: Sequence[str],
    end: EndRequests,
    permission: StartPermission,
) -> int:
    if not permission.wait_for(Step.CONFIGURE):
        return 0
    files = parameter_files(arguments)
    with take_domain_lock(namespace=namespace_of(arguments)), ros_session(arguments) as ros:
        manager = ControllerManagerNode(files, ros)
        if not permission.wait_for(Step.START):
            return 0
        return _spin(manager, ros, make_companions, end)


def run_in(
    ros: RosSession,
    make_companions: Sequence[MakeCompanion],
    files: Sequence[Document],
    end: EndRequests,
    make_component: MakeComponent = lambda plugin: plugin(),
    records: RecordStore = RecordStore(),  # noqa: B008 - without state
) -> int:
    """Run the control process in a session that exists. See `run`, and ControllerManagerNode."""
    manager = ControllerManagerNode(files, ros, make_component, records)
    return _spin(manager, ros, make_companions, end)


def _spin(
    manager: ControllerManagerNode,
    ros: RosSession,
    make_companions: Sequence[MakeCompanion],
    end: EndRequests,
) -> int:
    if end.in_order or end.at_once:
        return 0  # no joint has torque yet
    logger = manager.node.get_logger()
    ros.forward_logging(manager.node)
    companions = [make(manager, ros, end.end_at_once) for make in make_companions]
    for companion in companions:
        manager.executor.add_node(companion.node)
        manager.also_diagnosed.append(companion.diagnose)
    services = ServiceThread(manager, authority_of(companions, manager.loop), ros)

    def changed() -> None:
        manager.publish_safety()
        for companion in companions:
            companion.changed()
        manager.publish_changes()
        services.changed()

    manager.loop.on_change = manager.node.create_guard_condition(changed).trigger
    manager.start()
    try:  # from here on the joints may have torque
        if manager.loop_thread.realtime:
            ros.machine.make_ros_side_realtime()  # the loop's thread reports whether it was granted
        services.start()
        facts = manager.robot
        logger.info(f"{len(facts.joints)} joints at {facts.update_rate:g} Hz")  # noqa: G004
        succeeded = _execute(manager, companions, end)
    finally:
        report = _stop(manager, companions)
        services.stop()
    if report.failure or not succeeded:
        return 1
    if manager.loop_thread.failure is not None:
        logger.fatal(f"the control loop failed: {manager.loop_thread.failure!r}")
        return 1
    logger.info("stopped: all joints are without torque")
    return 0


def _execute(
    manager: ControllerManagerNode, companions: Sequence[Companion], end: EndRequests
) -> bool:
    """Execute callbacks until the loop ends or must end at once; return whether none failed."""
    lead_down = way_down_of(companions, end)
    guard = FailureGuard(
        manager.close_plugin, manager.loop.request_fall, end, lead_down=any_leads_down(companions)
    )
    clock = manager.machine.clock
    begun = inf  # [s] when waiting and executing began
    end.held_up = lambda: clock() - begun > LONGEST_CALLBACK
    with kept_awake(manager.executor.nudge, manager.machine):
        while not end.at_once and manager.loop_thread.is_running():
            begun = clock()
            failure = manager.executor.execute_next(SPIN_TIMEOUT)
            begun = inf
            if failure is None or failure.node is not None:
                manager.loop.heartbeat()
            else:
                # No callback was executed: do not spin without a pause.
                manager.machine.sleep(SPIN_TIMEOUT)
            if end.in_order:
                try:
                    lead_down()
                except CALLBACK_ERRORS as error:
                    failure = CallbackFailure(None, "'lead_down'", error)
            hanging = manager.snapshot_publisher.leave_hanging(clock())
            if hanging is not None:
                text = f"has not returned for {HANGING:g} s: nothing was published meanwhile"
                failure = CallbackFailure(None, f"'publish' of {hanging}", ListenerHangsError(text))
            if failure is not None:
                guard.handle(failure, manager.machine.clock())
            guard.enforce_time_limit(manager.machine.clock())
    return not guard.failed


def _stop(manager: ControllerManagerNode, companions: Sequence[Companion]) -> ShutdownReport:
    """Stop the loop, disable the joints, give the companions the report, clean up controllers."""
    report = stop_and_report(manager)
    if report.failure:
        manager.node.get_logger().fatal(report.failure)
    for companion in companions:
        companion.ended(report)
    if not manager.loop_thread.is_running():
        manager.registry.clean_up()
    return report
