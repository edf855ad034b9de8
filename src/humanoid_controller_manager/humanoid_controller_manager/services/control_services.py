"""The services behind `ros2 control` and the upstream spawner, and the topic `~/activity`.

The one module that imports controller_manager_msgs. Names, states and texts are those of
ros2_control 4; errors go into the answer where it has a place for them, into the log otherwise.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from threading import Lock
from typing import Any, Final, TypeAlias

from controller_manager_msgs import srv
from controller_manager_msgs.msg import ControllerManagerActivity

from humanoid_control_common.errors import RobotError
from humanoid_control_common.middleware.qos_profiles import LATCHED
from humanoid_controller_manager.plugins import CONTROLLERS, known_plugins
from humanoid_controller_manager.ros.node import ControllerManagerNode
from humanoid_controller_manager.services import control_messages
from humanoid_controller_manager.services.switch_plan import Selection
from humanoid_controller_manager.services.switcher import Switcher
from humanoid_controller_manager.switching.lifecycle import Lifecycle
from humanoid_controller_manager.switching.registry import State

BASE_CLASS: Final = "humanoid_controller_manager.controller.Controller"

Answer: TypeAlias = Callable[[Any, Any], Any]  # given request and response, which it returns

logger = logging.getLogger(__name__)


class ControlServices:
    """All services of one controller manager; their callbacks may wait.

    Args:
        node: executes the services, which the manager's node has in the graph; see ParameterNode.
        changed: called after each change.
        lifecycle: loads, configures, cleans up and unloads.
        switcher: switches.
    """

    def __init__(
        self,
        node: Any,
        manager: ControllerManagerNode,
        lifecycle: Lifecycle,
        switcher: Switcher,
        changed: Callable[[], None],
    ) -> None:
        self._manager = manager
        self._lifecycle = lifecycle
        self._switcher = switcher
        self._changed = changed
        self._published: list[tuple[str, State]] = []
        self._publishing = Lock()
        self._activities = manager.node.create_publisher(
            ControllerManagerActivity, "~/activity", LATCHED
        )
        for kind, callback in (
            (srv.ListControllers, self._list_controllers),
            (srv.ListControllerTypes, self._list_types),
            (srv.ListHardwareComponents, self._list_components),
            (srv.ListHardwareInterfaces, self._list_interfaces),
            (srv.LoadController, self._verb(lifecycle.load)),
            (srv.ConfigureController, self._verb(lifecycle.configure)),
            (srv.CleanupController, self._verb(lifecycle.cleanup)),
            (srv.UnloadController, self._verb(lifecycle.unload)),
            (srv.SwitchController, self._switch),
            (srv.ReloadControllerLibraries, self._reload),
            (srv.SetHardwareComponentState, self._set_component),
        ):
            answer = answering(callback)
            node.create_service_of(manager.node, kind, f"~/{_service_name(kind)}", answer)

    def publish_activity(self) -> None:
        """Publish the state of every controller if any changed. From any thread."""
        registry = self._manager.registry
        with self._publishing:  # the message published last is the newest
            shown = [(record.name, registry.state(record)) for record in registry.records.values()]
            if shown != self._published:
                self._published = shown
                self._activities.publish(control_messages.activity(self._manager, shown))

    # Inside.

    def _list_controllers(self, request: Any, response: Any) -> Any:
        response.controller = control_messages.controllers(self._manager)
        return response

    def _list_types(self, request: Any, response: Any) -> Any:
        response.types = known_plugins(CONTROLLERS)
        response.base_classes = [BASE_CLASS] * len(response.types)
        return response

    def _list_components(self, request: Any, response: Any) -> Any:
        response.component = control_messages.components(self._manager)
        return response

    def _list_interfaces(self, request: Any, response: Any) -> Any:
        response.command_interfaces = control_messages.commands(self._manager)
        response.state_interfaces = control_messages.states(self._manager)
        return response

    def _verb(self, verb: Callable[[str], None]) -> Answer:
        def callback(request: Any, response: Any) -> Any:
            try:
                verb(request.name)
                response.ok = True
            except RobotError as error:
                logger.error("%s", error)
            self._changed()
            return response

        return callback

    def _switch(self, request: Any, response: Any) -> Any:
        # Unspecified means best effort, as by ros2_control's default.
        strict = request.strictness == srv.SwitchController.Request.STRICT
        selection = Selection(request.activate_controllers, request.deactivate_controllers, strict)
        timeout = request.timeout.sec + request.timeout.nanosec * 1e-9
        try:
            response.message = self._switcher.switch(selection, timeout)
            response.ok = True
        except RobotError as error:
            response.message = str(error)
            logger.error("%s", error)
        self._changed()
        return response

    def _reload(self, request: Any, response: Any) -> Any:
        logger.error(
            "Cannot reload controller libraries: a mode controller is always active, and Python "
            "does not unload modules. Restart the process."
        )
        return response

    def _set_component(self, request: Any, response: Any) -> Any:
        known = {component.name for component in self._manager.description.blocks}
        if request.name not in known:
            logger.error(
                "hardware component with name '%s' does not exist; there are: %s",
                request.name,
                ", ".join(sorted(known)),
            )
            return response
        response.state = control_messages.ACTIVE
        response.ok = request.target_state.id == control_messages.ACTIVE.id
        if not response.ok:
            logger.error(
                "'%s' stays active: hardware is, as long as the control process runs", request.name
            )
        return response


def answering(callback: Answer) -> Answer:
    """Return `callback` with its errors in the log and in the answer: the services go on.

    Plug-in code may raise anything.
    """

    def answer(request: Any, response: Any) -> Any:
        try:
            return callback(request, response)
        except (Exception, SystemExit) as error:
            logger.exception("%s failed", type(request).__qualname__)
            if hasattr(response, "message"):
                response.message = repr(error)
            return response

    return answer


def _service_name(kind: type) -> str:
    """`LoadController` -> `load_controller`."""
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in kind.__name__)[1:]
