"""The services for the parameters of controllers.

Their own executor is that of the control process, where each service takes time in every round.
"""

import logging
from collections.abc import Callable, Collection
from typing import Any

from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.parameter_service import ParameterService
from rclpy.service import Service

from humanoid_controller_manager.ros.process.ros_session import ParameterNode

logger = logging.getLogger(__name__)


class ParameterServices:
    """Follows the nodes of controllers as they come and go; used by one thread.

    Args:
        node: executes the services.
    """

    def __init__(self, node: ParameterNode) -> None:
        self._node = node
        self._served: dict[Node, _Served] = {}

    def follow(self, nodes: Collection[Node]) -> None:
        """Offer the parameters of `nodes`, and of no others."""
        for gone in self._served.keys() - set(nodes):
            for service in self._served.pop(gone).services:
                self._node.destroy_service(service)  # it keeps its node in the graph
        for node in nodes:
            if node not in self._served:
                self._served[node] = _Served(self._node, node)


class _Served:
    """A node for rclpy's ParameterService: `owner`, but `executing` executes its services."""

    def __init__(self, executing: ParameterNode, owner: Node) -> None:
        self._executing, self._owner = executing, owner
        self.services: list[Service] = []
        try:
            ParameterService(self)
        except rclpy_implementation.RCLError as error:  # such as a refusal by access control
            logger.warning("no services for the parameters of %s: %s", owner.get_name(), error)

    def create_service(
        self, kind: Any, name: str, callback: Callable[..., Any], **options: Any
    ) -> None:
        create = self._executing.create_service_of
        self.services.append(create(self._owner, kind, name, callback, **options))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._owner, name)
