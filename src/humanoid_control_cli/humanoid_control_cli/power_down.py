"""Asks for the ordered power-down, and waits until the control process is gone."""

from __future__ import annotations

from typing import Final

from std_srvs.srv import Trigger

from humanoid_control_cli.client import Client
from humanoid_control_cli.domain import ros_domain
from humanoid_control_cli.errors import NoAnswerError, RefusedError
from humanoid_control_cli.mode_client import ModeClient
from humanoid_control_common.ending_times import ANSWER

SERVICE: Final = "/humanoid_control/power_down"
PATIENCE: Final = ANSWER + 1.0  # [s]


def power_down(client: Client) -> str:
    """What was made sure of. The client's timeout is for finding the service.

    Raises RefusedError with what may still be powered, NoAnswerError if nobody answers.
    """
    modes = ModeClient(client)
    caller = client.node.create_client(Trigger, SERVICE)
    if not client.wait(caller.service_is_ready, client.timeout):
        raise NoAnswerError(
            f"no mode manager answers on ROS_DOMAIN_ID {ros_domain()} within {client.timeout:g} s. "
            "If joints may be powered: end the control process where it was started (Ctrl-C); if "
            "there is none, cut the power of the drives"
        )
    call = caller.call_async(Trigger.Request())
    answered = client.wait(call.done, PATIENCE)
    client.node.destroy_client(caller)  # the process that is ending waits for this
    if not answered:
        raise NoAnswerError(
            f"no answer within {PATIENCE:g} s: joints may still be powered; cut the power of the "
            "drives"
        )
    answer = call.result()
    if not answer.success:
        raise RefusedError(answer.message)
    client.wait(modes.is_gone, client.timeout)
    return str(answer.message)
