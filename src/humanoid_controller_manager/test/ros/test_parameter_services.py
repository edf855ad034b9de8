"""No request to the services of parameters ends the control process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import rclpy
from rcl_interfaces.msg import Parameter, ParameterValue
from rcl_interfaces.srv import GetParameterTypes, SetParameters, SetParametersAtomically
from rclpy.context import Context

from humanoid_controller_manager.ros.execution.callbacks import CallbackExecutor
from humanoid_controller_manager.ros.process.ros_session import ParameterNode

TURNS = 2000  # each waits up to 10 ms
UNFIT = [Parameter(name="use_sim_time", value=ParameterValue(type=99))]

Ask = Callable[[Any, str, Any], Any]


@pytest.fixture
def ask() -> Iterator[Ask]:
    context = Context()
    rclpy.init(context=context)
    executor = CallbackExecutor(context=context)
    node = ParameterNode("asked", context=context, allow_undeclared_parameters=True)
    executor.add_node(node)

    def ask(kind: Any, service: str, request: Any) -> Any:
        client = node.create_client(kind, f"asked/{service}")
        assert client.wait_for_service(30.0)
        answer = client.call_async(request)
        for _ in range(TURNS):
            if answer.done():
                return answer.result()
            assert executor.execute_next(0.01) is None
        pytest.fail("not answered")

    yield ask
    executor.shutdown()
    node.destroy_node()
    rclpy.shutdown(context=context)


def test_an_unknown_parameter_has_no_type(ask: Ask) -> None:
    request = GetParameterTypes.Request(names=["use_sim_time", "absent"])
    assert list(ask(GetParameterTypes, "get_parameter_types", request).types) == []


def test_a_value_of_an_unknown_type_is_refused(ask: Ask) -> None:
    request = SetParameters.Request(parameters=UNFIT * 2)
    results = ask(SetParameters, "set_parameters", request).results
    assert [result.successful for result in results] == [False, False]
    assert results[0].reason.startswith("99 is not a valid")


def test_values_of_unknown_types_are_refused_together(ask: Ask) -> None:
    request = SetParametersAtomically.Request(parameters=UNFIT)
    result = ask(SetParametersAtomically, "set_parameters_atomically", request).result
    assert not result.successful
    assert result.reason.startswith("99 is not a valid")
