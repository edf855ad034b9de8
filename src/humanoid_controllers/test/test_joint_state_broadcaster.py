"""The broadcaster: its configuration, and what it publishes of a tick."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from humanoid_control_msgs.msg import MITCommand
from sensor_msgs.msg import JointState
from test_support.lone_node import LoneNode

from humanoid_control_common.errors import ConfigError
from humanoid_controller_manager.ros.plugin_context import PluginContext
from humanoid_controllers import ros
from humanoid_controllers.joint_state_broadcaster import (
    BroadcasterParameters,
    JointStateBroadcaster,
)


def test_a_broadcaster_keeps_the_topics_it_was_configured_with(facts: Any) -> None:
    broadcaster = JointStateBroadcaster()
    topics = BroadcasterParameters(joint_states_topic="/a", joint_commands_topic="/b")
    broadcaster.on_configure(topics, facts)
    assert broadcaster.topics == topics


@pytest.mark.parametrize(
    ("key", "whole", "part"),
    [
        ("joints", [], ["elbow"]),
        ("interfaces", ["velocity", "position", "effort"], ["position"]),
        ("use_local_topics", False, True),
        ("use_urdf_to_filter", True, False),
        ("map_interface_to_joint_state", {"effort": "effort"}, {"position": "raw_position"}),
    ],
)
def test_upstreams_parameters_are_accepted_if_they_leave_the_joint_states_whole(
    key: str, whole: object, part: object, facts: Any
) -> None:
    broadcaster = JointStateBroadcaster()
    broadcaster.on_configure(BroadcasterParameters.model_validate({key: whole}), facts)
    assert broadcaster.topics.joint_states_topic == "prime/joint_states"
    with pytest.raises(ConfigError, match=key):
        broadcaster.on_configure(BroadcasterParameters.model_validate({key: part}), facts)


def test_a_broadcaster_has_no_part_in_the_loop() -> None:
    assert not hasattr(JointStateBroadcaster, "mode")


@pytest.fixture
def lone_node(monkeypatch: pytest.MonkeyPatch) -> Iterator[LoneNode]:
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    lone = LoneNode("joint_state_broadcaster")
    yield lone
    lone.close()


def test_every_number_of_a_tick_is_published_in_its_field_with_the_time_of_the_measurement(
    lone_node: LoneNode, facts: Any
) -> None:
    node, names = lone_node.node, list(facts.joints.names)
    states: list[JointState] = []
    commands: list[MITCommand] = []
    reported: list[Any] = []
    node.create_subscription(JointState, "states", states.append, 10)
    node.create_subscription(MITCommand, "commands", commands.append, 10)
    broadcaster = JointStateBroadcaster()
    broadcaster.on_configure(
        BroadcasterParameters(joint_states_topic="states", joint_commands_topic="commands"), facts
    )
    context = PluginContext(
        node,
        facts,
        lambda: 100.0,
        lambda snapshot: snapshot.measured_at,
        reported.append,
    )
    publish = ros.attach_joint_state_broadcaster(context, broadcaster)
    lone_node.spin_until(lambda: node.count_publishers("commands") > 0)
    snapshot: Any = SimpleNamespace(
        measured_at=12_000_000_034,
        state_array=np.arange(3.0 * len(names)).reshape(3, -1),
        command_array=np.arange(5.0 * len(names)).reshape(5, -1) - 50.0,
    )

    def arrived() -> bool:
        publish(snapshot)
        return bool(states and commands)

    lone_node.spin_until(arrived)
    state, command = states[0], commands[0]
    for message in (state, command):
        assert (message.header.stamp.sec, message.header.stamp.nanosec) == (12, 34)
    assert (list(state.name), list(command.joint_names)) == (names, names)
    found = np.array([state.position, state.velocity, state.effort])
    np.testing.assert_array_equal(found, snapshot.state_array)
    rows = ("position", "velocity", "effort", "stiffness", "damping")
    found = np.array([getattr(command, row) for row in rows])
    np.testing.assert_array_equal(found, snapshot.command_array)
    assert reported[0] is snapshot
