"""Services answer the clients that are there, and wait for no other one."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import pytest
from rclpy.node import Node
from std_srvs.srv import Trigger
from test_support.lone_node import LoneNode

from humanoid_controller_manager.ros.execution import prompt_answers
from humanoid_controller_manager.ros.execution.prompt_answers import PromptAnswers, reader_of


class Answering(PromptAnswers, Node):
    """A node whose service counts its calls."""

    def __init__(self, **arguments: Any) -> None:
        super().__init__("answering", **arguments)
        self.calls = 0
        self.readers: list[bytes] = []
        self.blind = 0  # looks at which no reader is known
        self.served = self.create_service(Trigger, "~/call", self._on_call)

    def _on_call(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self.calls += 1
        response.success = True
        return response

    def _is_known(self, service: Any, reader: bytes) -> bool:
        self.readers.append(reader)
        self.blind -= 1
        return self.blind < 0 and super()._is_known(service, reader)


class Server(LoneNode):
    """A node that answers, and another one with a client of it."""

    def __init__(self) -> None:
        super().__init__("asking")
        self.answering = Answering(context=self.context)
        self.executor.add_node(self.answering)
        self.client = self.new_client()

    def new_client(self) -> Any:
        client = self.node.create_client(Trigger, "/answering/call")
        self.spin_until(client.service_is_ready)
        return client

    def readers(self) -> int:
        """Return how many readers of answers the graph has."""
        topic = "rr/answering/callReply"
        return len(self.answering.get_subscriptions_info_by_topic(topic, no_mangle=True))

    def close(self) -> None:
        self.answering.destroy_node()
        super().close()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    it = Server()
    yield it
    it.close()


def test_a_living_client_gets_its_answer_at_once(server: Server) -> None:
    call = server.client.call_async(Trigger.Request())
    server.spin_until(call.done)
    assert call.result().success
    assert [len(it) for it in server.answering.readers] == [16]
    assert server.answering._looking is None


def test_no_service_waits_for_a_client_that_has_ended(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of an answer that was waited for, rclpy warns."""
    monkeypatch.setattr(prompt_answers, "PATIENCE", 0.0)
    ended = server.new_client()
    ended.call_async(Trigger.Request())
    server.node.destroy_client(ended)
    while server.readers() > 1:
        pass
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        server.spin_until(lambda: server.answering.calls == 1)
        server.spin_until(lambda: not server.answering._unsent)
        call = server.client.call_async(Trigger.Request())
        server.spin_until(call.done)
    assert call.result().success


def test_an_answer_is_sent_when_its_reader_becomes_known(server: Server) -> None:
    server.answering.blind = 3
    call = server.client.call_async(Trigger.Request())
    server.spin_until(call.done)
    assert call.result().success
    assert len(server.answering.readers) == 4


def test_the_memory_of_a_request_of_another_origin_is_not_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Request:
        __slots__ = ("sequence_number",)

    class Header:
        request_id = Request()

    def read(*_: object) -> bytes:
        raise AssertionError("read")

    monkeypatch.setattr(prompt_answers.ctypes, "string_at", read)
    Header.request_id.sequence_number = 7
    assert reader_of(Header()) == b""
