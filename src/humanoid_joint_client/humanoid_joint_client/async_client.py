"""The client for programs on asyncio: it waits for the plain client in threads."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from humanoid_joint_client.client import JointClient
from humanoid_joint_client.config import RobotConfig
from humanoid_joint_client.control import Control
from humanoid_joint_client.errors import JointStreamError
from humanoid_joint_client.latency import LatencyReport
from humanoid_joint_client.mjcf import Mjcf
from humanoid_joint_client.state import Fault, JointStates


class AsyncControl:
    """The right to command the robot, made by `AsyncJointClient.control`."""

    def __init__(self, control: Control) -> None:
        self._control = control
        self.send = control.send  # does not wait

    @property
    def dropped(self) -> int:
        """See Control."""
        return self._control.dropped

    async def activate(self) -> int:
        """See Control."""
        return await asyncio.to_thread(self._control.activate)

    async def finish(self) -> Any:
        """See Control."""
        return await asyncio.to_thread(self._control.finish)


class AsyncJointClient:
    """See JointClient, whose arguments and errors it has. `plain` is the one that it uses."""

    def __init__(
        self,
        address: str = "",
        *,
        certificate: Path | str | None = None,
        token: str = "",
        timeout: float = 5.0,
    ) -> None:
        self.plain = JointClient(address, certificate=certificate, token=token, timeout=timeout)

    async def __aenter__(self) -> Self:
        await asyncio.to_thread(lambda: self.plain.config)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await asyncio.to_thread(self.plain.close)

    @property
    def config(self) -> RobotConfig:
        """See JointClient."""
        return self.plain.config

    @property
    def latency(self) -> LatencyReport:
        """See JointClient."""
        return self.plain.latency

    async def states(self, decimation: int = 0, keep: int = 1) -> AsyncIterator[JointStates]:
        """Yield states until the caller stops; see JointClient."""
        loop, changed = asyncio.get_running_loop(), asyncio.Event()

        def tell() -> None:
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(changed.set)

        opened = self.plain.open_states(decimation, keep, tell)
        values = await asyncio.to_thread(opened.__enter__)
        try:
            while True:
                changed.clear()
                if not values.is_ready:
                    await changed.wait()
                    continue
                try:
                    state = next(values)
                except StopIteration:
                    return
                yield state
        finally:
            opened.__exit__(None, None, None)

    @asynccontextmanager
    async def control(self, owner: str = "") -> AsyncIterator[AsyncControl]:
        """Have the robot follow this client; see JointClient.

        The robot stops following at the end of the block, also if the task is cancelled in it or
        before it.
        """
        block = self.plain.control(owner)
        entering = asyncio.ensure_future(asyncio.to_thread(block.__enter__))
        try:
            control = await asyncio.shield(entering)
        except asyncio.CancelledError:
            with suppress(JointStreamError):
                await entering
                await asyncio.to_thread(block.__exit__, None, None, None)
            raise
        try:
            yield AsyncControl(control)
        finally:
            await asyncio.shield(asyncio.to_thread(block.__exit__, None, None, None))

    async def urdf(self) -> str:
        """See JointClient."""
        return await asyncio.to_thread(self.plain.urdf)

    async def mjcf(self) -> Mjcf:
        """See JointClient."""
        return await asyncio.to_thread(self.plain.mjcf)

    async def faults(self) -> list[Fault]:
        """See JointClient."""
        return await asyncio.to_thread(self.plain.faults)

    async def clear_fault(self, fault: Fault, lease: str = "") -> None:
        """See JointClient."""
        await asyncio.to_thread(self.plain.clear_fault, fault, lease)

    async def feedback(self) -> Any:
        """See JointClient."""
        return await asyncio.to_thread(self.plain.feedback)
