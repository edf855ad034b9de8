"""The operator's stop, heartbeat, reset of faults and power-down, confirmed by the robot."""

from typing import Any, Final

from humanoid_control_msgs.msg import SafetyStatus
from humanoid_control_msgs.srv import ClearFault
from rcl_interfaces.srv import ListParameters
from rclpy.duration import Duration
from std_msgs.msg import Bool, String
from std_srvs.srv import Trigger

from humanoid_control_cli.client import MODE_MANAGER, Client
from humanoid_control_cli.domain import others_in_words, robot_in_words
from humanoid_control_cli.errors import NoAnswerError, RefusedError
from humanoid_control_cli.mode_client import ModeClient
from humanoid_control_cli.statements import StampedStatement
from humanoid_control_common.ending_times import ANSWER
from humanoid_control_common.middleware.qos_profiles import LATCHED_HISTORY
from humanoid_control_common.rules.modes import SAFE_MODES
from humanoid_control_common.rules.reason_codes import RESET_SENT
from humanoid_controllers.reason_codes import EMERGENCY_STOP

STOP_TOPIC: Final = "emergency_stop"
HEARTBEAT_TOPIC: Final = "emergency_stop/heartbeat"
HEARTBEATS: Final = "heartbeats"  # parameters of the mode manager: a number for each name
SOURCE: Final = "emergency_stop"
AGAIN: Final = 0.05  # [s] until it is sent once more
DELIVERY: Final = Duration(seconds=0.5)  # in which each listener gets the stops that were sent
STATED: Final = 0.1  # [s] in which the statement of the stop follows its report
BEAT_PERIOD: Final = 0.1  # [s]
CLEAR_FAULT: Final = "mode_manager/clear_fault"
LATCHED_TIME: Final = 0.5  # [s] in which the latest report of every source arrives
POWER_DOWN: Final = "humanoid_control/power_down"
POWER_DOWN_TIMEOUT: Final = ANSWER + 1.0  # [s]
LAST_ANSWER: Final = 0.5  # [s] in which an answer arrives that was sent before the end


def press(client: Client) -> StampedStatement:
    """Stop the robot. Returns the statement then in force, of DAMPING or ZERO_TORQUE.

    Waits up to DELIVERY until every stop that was sent has arrived, so that none arrives after a
    later `clear_faults` and stops the robot again.

    Raises NoAnswerError without a subscriber, or if no safe mode is stated.
    """
    modes = ModeClient(client)
    levels = _levels_by_source(client)

    def holds() -> bool:
        safe = modes.latest is not None and modes.latest.mode in SAFE_MODES
        return safe and levels.get(SOURCE) == SafetyStatus.CRITICAL

    def stated() -> bool:
        return modes.latest is not None and EMERGENCY_STOP.name in modes.latest.reason.codes

    topic = client.node.create_publisher(Bool, STOP_TOPIC, 10)
    if not client.wait(topic.get_subscription_count, client.timeout):
        silence = f"no subscriber on {topic.topic_name} within {client.timeout:g} s"
        raise _not_stopped(f"{silence}{_elsewhere(client)}")
    for _ in range(max(1, round(client.timeout / AGAIN))):
        topic.publish(Bool(data=True))
        if client.wait(holds, AGAIN):
            topic.wait_for_all_acked(DELIVERY)
            client.wait(stated, STATED)
            assert modes.latest is not None
            return modes.latest
    state = f"in force is {modes.latest}" if modes.latest else "no mode is stated"
    raise _not_stopped(f"sent, but not confirmed within {client.timeout:g} s; {state}")


def required_heartbeats(client: Client) -> list[str]:
    """Return the names of the heartbeats that the robot requires. Raises NoAnswerError."""
    request = ListParameters.Request(prefixes=[HEARTBEATS])
    answer = client.call(ListParameters, f"{MODE_MANAGER}/list_parameters", request)
    return sorted(name.removeprefix(f"{HEARTBEATS}.") for name in answer.result.names)


def keep_beating(client: Client, name: str) -> None:
    """Send the heartbeat of `name` until KeyboardInterrupt."""
    topic = client.node.create_publisher(String, HEARTBEAT_TOPIC, 10)
    while True:
        topic.publish(String(data=name))
        client.wait(lambda: False, BEAT_PERIOD)


def _levels_by_source(client: Client) -> dict[str, int]:
    """Return the safety levels by source, kept up to date while `client` waits."""
    levels: dict[str, int] = {}

    def note(report: Any) -> None:
        levels[report.source] = report.level

    client.subscribe(SafetyStatus, "safety_status", note, LATCHED_HISTORY)
    return levels


def _elsewhere(client: Client) -> str:
    """Return which robots run in other namespaces, for the end of a sentence."""
    others = client.other_robots()
    return f"; {others_in_words(others)}" if others else ""


def _not_stopped(reason: str) -> NoAnswerError:
    return NoAnswerError(
        f"NOT STOPPED: {reason} ({robot_in_words()}): use the emergency stop that cuts the power"
    )


def clear_faults(client: Client) -> str:
    """Return the mode manager's answer. Raises RefusedError with the faults left after the timeout.

    Waits only if the reset was sent: an obstacle to it doesn't go away by itself.
    """
    levels = _levels_by_source(client)

    def well() -> bool:
        return all(level < SafetyStatus.FAULT for level in levels.values())

    try:
        return _clear(client)
    except RefusedError as refusal:
        if RESET_SENT.name not in refusal.codes:
            raise
        client.wait(lambda: False, LATCHED_TIME)
        if not client.wait(well, client.timeout):
            raise
    return _clear(client)


def _clear(client: Client) -> str:
    answer = client.call(ClearFault, CLEAR_FAULT, ClearFault.Request())
    if not answer.success:
        raise RefusedError(answer.message, tuple(answer.reason_codes))
    return str(answer.message)


def power_down(client: Client) -> str:
    """Return the confirmed result. The client's timeout is for finding the service.

    Raises RefusedError with what may still be powered, NoAnswerError without an answer.
    """
    modes = ModeClient(client)
    caller = client.node.create_client(Trigger, POWER_DOWN)
    if not client.wait(caller.service_is_ready, client.timeout):
        raise NoAnswerError(
            f"no mode manager answers on {robot_in_words()} within {client.timeout:g} s"
            f"{_elsewhere(client)}. "
            "If joints may be powered: end the control process where it was started (Ctrl-C); if "
            "there is none, cut the power of the drives"
        )
    was_there = not modes.is_gone()  # asked before: the process may end right after the request
    call = caller.call_async(Trigger.Request())

    def ended() -> bool:
        nonlocal was_there
        is_gone = modes.is_gone()
        was_there = was_there or not is_gone
        return was_there and is_gone

    client.wait(lambda: call.done() or ended(), POWER_DOWN_TIMEOUT)
    answered = client.wait(call.done, LAST_ANSWER)
    client.node.destroy_client(caller)  # the process that is ending waits for this
    if not answered:
        raise NoAnswerError(
            "the control process has ended without an answer: joints may still be powered; cut the "
            "power of the drives, unless its log says that all joints are without torque"
            if ended()
            else f"no answer within {POWER_DOWN_TIMEOUT:g} s: joints may still be powered; "
            "cut the power of the drives"
        )
    answer = call.result()
    if not answer.success:
        raise RefusedError(answer.message)
    client.wait(modes.is_gone, client.timeout)
    return str(answer.message)
