"""Executes the callbacks of nodes in memory, in an order that the seed decides."""

from __future__ import annotations

from typing import Final

from humanoid_controller_manager.plugin_texts import PLUGIN_ERRORS
from humanoid_controller_manager.ros.execution.callbacks import CallbackFailure, described
from humanoid_stepped.ros.entities import Entity
from humanoid_stepped.ros.node import SteppedNode
from humanoid_stepped.scheduler import Flag
from humanoid_stepped.stepped_machine import SteppedMachine

LONGEST_CALLBACK: Final = 0.0006  # [s] that waiting and executing take besides the wait


class SteppedExecutor:
    """See CallbackExecutor."""

    def __init__(self, machine: SteppedMachine) -> None:
        self._machine, self._random = machine, machine.scheduler.random
        self._nodes: list[SteppedNode] = []
        self._ready: list[Entity] = []
        self._bell = Flag()

    def add_node(self, node: SteppedNode) -> None:
        """See rclpy."""
        self._nodes.append(node)
        node.executor = self
        for entity in node.ready():
            self.notify(entity)

    def remove_node(self, node: SteppedNode) -> None:
        """See rclpy."""
        if node in self._nodes:
            self._nodes.remove(node)
            node.executor = None

    def notify(self, entity: Entity) -> None:
        """Note that `entity` is ready."""
        if entity not in self._ready:
            self._ready.append(entity)
        self._bell.set()

    def wake(self) -> None:
        """See rclpy."""
        self._bell.set()

    def nudge(self) -> None:
        """See CallbackExecutor: no wait lasts longer than it may on the simulated clock."""

    def shutdown(self) -> None:
        """See rclpy."""
        for node in list(self._nodes):
            self.remove_node(node)

    def execute_next(self, timeout: float | None) -> CallbackFailure | None:
        """See CallbackExecutor."""
        entity = self._next(timeout)
        if entity is None:
            return None
        self._machine.sleep(self._random.random() * LONGEST_CALLBACK)
        if entity.node.executor is not self or not entity.is_ready():
            return None
        try:
            entity.execute()
        except PLUGIN_ERRORS as error:
            return CallbackFailure(entity.node, described(entity), error)
        finally:
            if entity.is_ready():
                self.notify(entity)
        return None

    def _next(self, timeout: float | None) -> Entity | None:
        if not self._ready:
            self._bell.clear()
            self._machine.wait(self._bell, timeout)
        if not self._ready:
            return None
        return self._ready.pop(self._random.randrange(len(self._ready)))
