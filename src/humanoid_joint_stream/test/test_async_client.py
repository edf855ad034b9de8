"""The client for asyncio, with the robot of the server's tests."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from humanoid_control_common.rules.modes import Mode
from humanoid_joint_client import AsyncJointClient, NotReadyError, UnavailableError
from humanoid_joint_client import joint_stream_pb2 as pb
from humanoid_joint_stream.server.session import Situation
from humanoid_joint_stream.server.state_hub import NumberedState
from src.humanoid_joint_stream.test.joint_bench import COUNT, JOINTS
from src.humanoid_joint_stream.test.test_server import (  # noqa: F401 - fixtures
    Served,
    calls,
    served,
    socket,
)


def test_states_come_until_the_reader_stops(served: Served, socket: Path) -> None:  # noqa: F811
    async def read() -> list[int]:
        found = []
        async with AsyncJointClient(f"unix:{socket}") as client:
            assert client.config.names == JOINTS
            async for state in client.states(keep=10):
                found.append(state.tick)
                if state.tick == 3:
                    break
        return found

    message = pb.State(position=[0.0] * COUNT)

    async def ticks() -> list[int]:
        reading = asyncio.create_task(read())
        for tick in range(1, 4):
            while not served.hub.readers or served.ticks:
                await asyncio.sleep(0.001)
            message.tick = tick
            served.ticks.append(NumberedState(tick, message.SerializeToString()))
        return await reading

    assert asyncio.run(ticks()) == [1, 2, 3]


def test_the_end_of_the_block_ends_the_control(served: Served, socket: Path) -> None:  # noqa: F811
    served.bench.leave(Situation(Mode.STANDBY))

    async def command() -> None:
        async with AsyncJointClient(f"unix:{socket}") as client:
            async with client.control() as control:
                assert await control.activate() > 0
                control.send([0.0] * COUNT)
            assert (await client.feedback()).mode == "DAMPING"

    asyncio.run(command())
    assert served.link.requests == [Mode.REMOTE, Mode.DAMPING]
    assert not served.bench.session.lease.is_in_force(served.bench.now)


def test_a_task_that_is_cancelled_leaves_no_control(
    served: Served,  # noqa: F811
    socket: Path,  # noqa: F811
) -> None:
    """In the block, and on the way into it."""

    async def command(inside: bool) -> None:
        async with AsyncJointClient(f"unix:{socket}") as client:
            began = asyncio.Event()

            async def block() -> None:
                began.set()
                async with client.control():
                    await asyncio.sleep(1000.0)

            task = asyncio.create_task(block())
            await began.wait()
            while inside and not served.bench.session.activation:
                await asyncio.sleep(0.001)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    for inside in (True, False):
        served.bench.leave(Situation(Mode.STANDBY))
        asyncio.run(command(inside))
        assert not served.bench.session.activation
        assert not served.bench.session.lease.is_in_force(served.bench.now)


def test_errors_are_those_of_the_plain_client(served: Served, socket: Path) -> None:  # noqa: F811
    served.bench.leave(Situation(Mode.DAMPING))

    async def command() -> None:
        async with AsyncJointClient(f"unix:{socket}") as client:
            with pytest.raises(NotReadyError):
                async with client.control():
                    raise AssertionError
            served.robot = None
            with pytest.raises(UnavailableError):
                await client.urdf()
            with pytest.raises(UnavailableError):
                await anext(client.states())

    asyncio.run(command())
