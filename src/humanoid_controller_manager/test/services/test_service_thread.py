"""A callback that raises ends neither the thread of the services nor the process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import rclpy
from rclpy.node import Node

from humanoid_control_common.machine.linux import LINUX
from humanoid_controller_manager.ros.execution.callbacks import CallbackExecutor, CallbackFailure
from humanoid_controller_manager.services.service_thread import serve


@pytest.fixture
def node() -> Iterator[Node]:
    context = rclpy.Context()
    rclpy.init(context=context)
    node = Node("services", context=context, start_parameter_services=False)
    yield node
    node.destroy_node()
    rclpy.shutdown(context=context)


@pytest.mark.parametrize("error", [KeyError("q"), SystemExit(2)])
@pytest.mark.parametrize("telling_fails", [False, True])
def test_error_of_a_callback_is_logged_and_reported_and_the_services_go_on(
    node: Node, caplog: Any, error: BaseException, telling_fails: bool
) -> None:
    executor = CallbackExecutor(context=node.context)
    executor.add_node(node)
    failures: list[CallbackFailure] = []
    served: list[str] = []

    def fail() -> None:
        other.trigger()
        raise error

    def tell(failure: CallbackFailure) -> None:
        failures.append(failure)
        if telling_fails:
            raise ZeroDivisionError

    other = node.create_guard_condition(lambda: served.append("other"))
    node.create_guard_condition(fail).trigger()
    serve(executor, lambda: bool(served), tell, LINUX)
    executor.shutdown()

    assert [(failure.node, failure.error) for failure in failures] == [(node, error)]
    assert f"raised {error!r}" in caplog.text
    assert "Traceback" in caplog.text
