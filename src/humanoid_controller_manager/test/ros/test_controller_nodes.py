"""The operator reads the error of a ROS side with the name of its controller."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from humanoid_control_common.configuration.config import Document
from humanoid_control_common.errors import ConfigError
from humanoid_controller_manager.ros import controller_nodes
from humanoid_controller_manager.ros.controller_nodes import ControllerNode
from humanoid_controller_manager.ros.plugin_context import PluginContext


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ConfigError("/dev/shm/x: no shared memory"), "hand: /dev/shm/x: no shared memory"),
        (KeyError("q"), "hand: attach failed: KeyError('q')"),
        (SystemExit(2), "hand: attach failed: SystemExit(2)"),
    ],
)
def test_an_error_of_attach_is_reported_with_the_controller(
    monkeypatch: pytest.MonkeyPatch, error: BaseException, text: str
) -> None:
    def attach(context: PluginContext, instance: object) -> None:
        raise error

    monkeypatch.setattr(controller_nodes, "find_plugin", lambda *_: attach)
    node: Any = SimpleNamespace(get_name=lambda: "hand")
    nothing: Any = None
    context = PluginContext(node, nothing, nothing, nothing)
    with pytest.raises(ConfigError) as caught:
        ControllerNode(context, Document("", {}, {}), nothing).attach("any", object(), nothing)
    assert str(caught.value) == text
