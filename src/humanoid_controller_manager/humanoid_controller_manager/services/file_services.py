"""The services behind `hc load` and `hc unload`; they need no packages of ros2_control."""

import logging
from collections.abc import Callable
from typing import Any

from humanoid_control_msgs.srv import LoadController, UnloadController
from rclpy.node import Node

from humanoid_control_common.errors import RobotError
from humanoid_controller_manager.services.controller_files import ControllerFiles, sentence

logger = logging.getLogger(__name__)


class FileServices:
    """Both services; their callbacks may wait.

    Args:
        node: executes the services, see ParameterNode.
        manager: has the services in the graph.
        changed: called after a change.
    """

    def __init__(
        self, node: Any, manager: Node, files: ControllerFiles, changed: Callable[[], None]
    ) -> None:
        self._files = files
        self._changed = changed
        node.create_service_of(manager, LoadController, "~/load_file", self._load)
        node.create_service_of(manager, UnloadController, "~/unload", self._unload)

    def _load(self, request: Any, response: Any) -> Any:
        def load() -> str:
            name, change = self._files.load(request.file, request.python_folders)
            response.name, response.mode = name, int(change.mode)
            return f"'{name}' is loaded: {sentence(change)}"

        return self._answer(response, load)

    def _unload(self, request: Any, response: Any) -> Any:
        def unload() -> str:
            change = self._files.unload(request.name)
            return f"'{request.name}' is unloaded: {sentence(change)}"

        return self._answer(response, unload)

    def _answer(self, response: Any, do: Callable[[], str]) -> Any:
        """Do it; plug-in code may raise anything, and the services go on."""
        try:
            response.message = do()
            response.success = True
            logger.info("%s", response.message)
            self._changed()
        except RobotError as error:
            response.message = str(error)
            logger.error("%s", error)
        except (Exception, SystemExit) as error:
            response.message = repr(error)
            logger.exception("a service failed")
        return response
