"""The event loop of the server."""

from __future__ import annotations

import asyncio
import socket

import pytest

from humanoid_joint_stream.server.event_loop import EventLoop


def test_a_descriptor_that_is_closed_while_it_is_registered_does_not_end_the_loop() -> None:
    """At its end gRPC does this."""
    calls = EventLoop()

    async def close() -> None:
        one, other = socket.socketpair()
        asyncio.get_running_loop().add_reader(one, lambda: None)
        one.close()
        other.close()
        await asyncio.sleep(0.001)

    calls.call(close())
    calls.stop()
    assert not calls._thread.is_alive()


def test_running_task_is_ended_with_the_event_loop() -> None:
    calls, ended = EventLoop(), []

    async def forever() -> None:
        try:
            await asyncio.sleep(1000.0)
        finally:
            ended.append(True)

    async def begin() -> asyncio.Task[None]:
        task = asyncio.create_task(forever())
        await asyncio.sleep(0)
        return task

    calls.call(begin())
    calls.stop()
    assert ended == [True]


def test_an_error_of_a_call_is_raised_where_it_was_made() -> None:
    calls = EventLoop()

    async def fail() -> None:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        calls.call(fail())
    calls.stop()
