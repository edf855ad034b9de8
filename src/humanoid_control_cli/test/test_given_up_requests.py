"""A request that a command has given up has no effect later."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import rclpy
from rclpy.node import Node
from std_srvs.srv import Trigger

from humanoid_control_cli.client import Client
from humanoid_control_cli.errors import NoAnswerError


@pytest.fixture
def silent_service() -> Iterator[Node]:
    """A node whose service `silent` never answers."""
    context = rclpy.Context()
    rclpy.init(context=context)
    node = Node("silent", context=context)
    node.create_service(Trigger, "/silent", lambda _, response: response)
    yield node
    node.destroy_node()
    context.shutdown()


def test_a_request_without_an_answer_is_withdrawn_while_the_command_goes_on(
    silent_service: Node,
) -> None:
    with Client(timeout=1.0) as client:
        for _ in range(2):  # a withdrawn request does not keep the next one from being sent
            with pytest.raises(NoAnswerError):
                client.trigger("silent")
        client.timeout = 20.0
        assert client.wait(lambda: not silent_service.count_clients("/silent"), client.timeout)
