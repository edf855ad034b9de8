"""The configuration of the broadcaster; other tests check its topics with ROS."""

from __future__ import annotations

from typing import Any

import pytest

from humanoid_controllers.joint_state_broadcaster import (
    BroadcasterParameters,
    JointStateBroadcaster,
)


def test_a_broadcaster_keeps_the_topics_it_was_configured_with(facts: Any) -> None:
    broadcaster = JointStateBroadcaster()
    topics = BroadcasterParameters(joint_states_topic="/a", joint_commands_topic="/b")
    broadcaster.on_configure(topics, facts)
    assert broadcaster.topics == topics


@pytest.mark.parametrize("missing", ["joint_states_topic", "joint_commands_topic"])
def test_missing_topic_of_the_broadcaster_is_refused(missing: str) -> None:
    topics = {"joint_states_topic": "/a", "joint_commands_topic": "/b"}
    del topics[missing]
    with pytest.raises(ValueError, match=missing):
        BroadcasterParameters.model_validate(topics)


def test_a_broadcaster_has_no_part_in_the_loop() -> None:
    assert not hasattr(JointStateBroadcaster, "mode")
