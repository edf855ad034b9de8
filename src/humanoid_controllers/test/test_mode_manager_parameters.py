"""Wrong parameters of the mode manager are refused with their name."""

from __future__ import annotations

import pytest

from humanoid_control_common.configuration.config import Document
from humanoid_control_common.errors import ConfigError
from humanoid_controller_manager.ros.parameters import parse
from humanoid_controllers.mode_manager.mode_manager_node import ModeManagerParameters


@pytest.mark.parametrize("key", ["safety_deadlines", "heartbeats"])
@pytest.mark.parametrize("limit", [0.0, -1.0, float("nan"), float("inf")])
def test_a_silence_without_a_positive_limit_is_refused(key: str, limit: float) -> None:
    """With 0 or less the robot would fall at once, and could not be cleared."""
    document = Document("parameters of mode_manager", {key: {"desk": limit}})
    with pytest.raises(ConfigError, match=f"mode_manager: .*{key}.*desk"):
        parse(ModeManagerParameters, "mode_manager", document)


def test_a_heartbeat_in_milliseconds_is_refused() -> None:
    document = Document("parameters of mode_manager", {"heartbeats": {"desk": 500.0}})
    with pytest.raises(ConfigError, match=r"heartbeats.*desk.*less than or equal to 60"):
        parse(ModeManagerParameters, "mode_manager", document)
