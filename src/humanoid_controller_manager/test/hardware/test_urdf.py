"""Parsing of the robot description, and the errors for its mistakes."""

from __future__ import annotations

from typing import Any

import pytest

from humanoid_control_common.errors import ConfigError
from humanoid_controller_manager.hardware.urdf import parse_robot_description

COMMANDS = ("position", "velocity", "effort", "stiffness", "damping")
STATES = ("position", "velocity", "effort")
LIMIT = '<limit lower="-1" upper="2" velocity="3" effort="10"/>'


def joint(name: str, limit: str = LIMIT, kind: str = "revolute") -> str:
    return f'<joint name="{name}" type="{kind}">{limit}</joint>'


def claimed(
    name: str, commands: Any = COMMANDS, states: Any = STATES, inside: str = "", initial: str = ""
) -> str:
    state_tags = "".join(
        f'<state_interface name="{s}">{initial if s == "position" else ""}</state_interface>'
        for s in states
    )
    command_tags = "".join(f'<command_interface name="{c}"/>' for c in commands)
    return f'<joint name="{name}">{inside}{command_tags}{state_tags}</joint>'


def block(name: str, *joints: str, plugin: str = "x/Y", parameters: str = "") -> str:
    hardware = f"<hardware><plugin>{plugin}</plugin>{parameters}</hardware>"
    return f'<ros2_control name="{name}" type="system">{hardware}{"".join(joints)}</ros2_control>'


def robot(*parts: str) -> str:
    return f'<?xml version="1.0" encoding="utf-8"?>\n<robot name="r">{"".join(parts)}</robot>'


ABC = "".join(joint(name) for name in "abc")


def _error(urdf: str) -> str:
    with pytest.raises(ConfigError) as caught:
        parse_robot_description(urdf, 50.0)
    return str(caught.value)


def test_joints_stand_in_the_order_of_the_urdf_whatever_the_blocks_order() -> None:
    urdf = robot(block("two", claimed("c"), claimed("a")), ABC, block("one", claimed("b")))
    description = parse_robot_description(urdf, 50.0)
    assert description.name == "r"
    assert description.joints.names == ("a", "b", "c")
    assert [info.name for info in description.blocks] == ["two", "one"]
    assert description.blocks[0].joint_set.names == ("c", "a")
    assert description.urdf == urdf


def test_joints_of_no_block_are_left_out() -> None:
    description = parse_robot_description(robot(ABC, block("one", claimed("b"))), 50.0)
    assert description.joints.names == ("b",)


def test_limits_follow_their_joints_into_the_blocks() -> None:
    joints = [
        joint(name, f'<limit lower="-{i}" upper="{i}" velocity="{10 * i}" effort="{100 * i}"/>')
        for i, name in enumerate("abc", start=1)
    ]
    urdf = robot(*joints, block("one", claimed("c"), claimed("a")), block("two", claimed("b")))
    description = parse_robot_description(urdf, 50.0)
    assert description.limits.upper.tolist() == [1.0, 2.0, 3.0]
    limits = description.blocks[0].limits
    assert limits.lower.tolist() == [-3.0, -1.0]
    assert limits.velocity.tolist() == [30.0, 10.0]
    assert limits.effort.tolist() == [300.0, 100.0]


def safety(
    lower: float = -0.9, upper: float = 1.8, k_position: float = 20.0, k_velocity: float = 5.0
) -> str:
    return (
        f'{LIMIT}<safety_controller soft_lower_limit="{lower}" soft_upper_limit="{upper}" '
        f'k_position="{k_position}" k_velocity="{k_velocity}"/>'
    )


def test_soft_limits_are_read_and_without_them_the_range_is_the_joints_own() -> None:
    urdf = robot(joint("a", safety()), joint("b"), block("one", claimed("a"), claimed("b")))
    limits = parse_robot_description(urdf, 50.0).blocks[0].limits
    assert limits.target_lower.tolist() == [-0.9, -1.0]
    assert limits.target_upper.tolist() == [1.8, 2.0]
    assert limits.soft is not None
    assert limits.soft.position_gain.tolist() == [20.0, 0.0]
    assert limits.soft.velocity_gain.tolist() == [5.0, 0.0]


@pytest.mark.parametrize(
    "change", [{"lower": -1.1}, {"upper": 2.1}, {"lower": 1.9}, {"k_position": -1.0}], ids=str
)
def test_soft_limits_that_make_no_sense_are_reported_with_their_joint(change: Any) -> None:
    message = _error(robot(joint("a", safety(**change)), block("one", claimed("a"))))
    assert message.startswith("joint 'a': safety_controller from ")
    assert "expected a range within the limits -1 to 2 and no negative gain" in message


def test_a_block_hands_on_its_parameters() -> None:
    urdf = robot(
        ABC,
        block(
            "one",
            claimed(
                "a",
                inside='<param name="id"> 22 </param>',
                initial='<param name="initial_value">0.25</param>',
            ),
            claimed("b"),
            plugin=" x/Y\n",
            parameters='<param name="port">can0</param><param name="empty"/>',
        ),
    )
    info = parse_robot_description(urdf, 50.0).blocks[0]
    assert (info.plugin, info.update_rate) == ("x/Y", 50.0)
    assert info.parameters == {"port": "can0", "empty": ""}
    assert info.joints[0].parameters == {"id": "22"}
    assert [j.initial_position for j in info.joints] == [0.25, 0.0]


def test_the_file_of_a_block_is_named_in_messages_and_is_no_parameter() -> None:
    file = '<param name="hardware_file">/etc/arm.yaml</param>'
    urdf = robot(ABC, block("one", claimed("a"), parameters=file), block("two", claimed("b")))
    one, two = parse_robot_description(urdf, 50.0).blocks
    assert not one.parameters
    assert one.place == "/etc/arm.yaml: <ros2_control name='one'>"
    assert two.place == two.block == "<ros2_control name='two'>"


@pytest.mark.parametrize(
    ("lower", "upper", "start"), [(-1.0, 2.0, 0.0), (0.3, 1.2, 0.3), (-1.2, -0.3, -0.3)]
)
def test_a_joint_starts_at_the_angle_nearest_to_zero_that_it_can_have(
    lower: float, upper: float, start: float
) -> None:
    limit = f'<limit lower="{lower}" upper="{upper}" velocity="3" effort="10"/>'
    urdf = robot(joint("a", limit), block("one", claimed("a")))
    assert parse_robot_description(urdf, 50.0).blocks[0].joints[0].initial_position == start


@pytest.mark.parametrize(
    ("kind", "found"),
    [
        ("prismatic", "prismatic"),
        ("continuous", "continuous"),
        ("fixed", "fixed"),
        ("floating", "floating"),
        ("", "of no type"),
    ],
)
def test_a_drive_turns_a_revolute_joint_only(kind: str, found: str) -> None:
    message = _error(robot(joint("a", kind=kind), block("one", claimed("a"))))
    assert message == f"<ros2_control name='one'>: joint 'a' is {found}, expected revolute"


def test_a_joint_that_another_one_moves_has_no_drive() -> None:
    follower = joint("b", LIMIT + '<mimic joint="a" multiplier="-1"/>')
    message = _error(robot(joint("a"), follower, block("one", claimed("a"), claimed("b"))))
    assert message.startswith("<ros2_control name='one'>: joint 'b' mimics 'a', so it has no drive")


def test_the_order_of_interfaces_does_not_matter() -> None:
    urdf = robot(ABC, block("one", claimed("a", COMMANDS[::-1], STATES[::-1])))
    assert parse_robot_description(urdf, 50.0).joints.names == ("a",)


@pytest.mark.parametrize("urdf", ["", "  \n "])
def test_an_empty_description_is_reported(urdf: str) -> None:
    assert "empty" in _error(urdf)


def test_a_description_that_is_not_xml_is_reported_with_line_and_text() -> None:
    message = _error("<robot>\n  <joint name='a'>\n</robot>")
    assert message.startswith("robot description:3: not valid XML")
    assert "</robot>" in message


@pytest.mark.parametrize("urdf", ["hello", "<robot>", "\0", "<robot></robot><x/>", "<a>&nope;</a>"])
def test_any_text_that_is_not_xml_is_reported(urdf: str) -> None:
    assert "not valid XML" in _error(urdf)


def test_description_with_another_root_element_is_refused() -> None:
    assert "root element is <sdf>, expected <robot>" in _error("<sdf/>")


def test_a_description_without_a_block_is_reported() -> None:
    assert "no <ros2_control> block" in _error(robot(ABC))


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        pytest.param(
            (ABC, block("one", claimed("z"))),
            ["<ros2_control name='one'>", "unknown joint 'z'", "a, b, c"],
            id="unknown joint",
        ),
        pytest.param(
            (ABC, block("one", claimed("a")), block("two", claimed("a"))),
            ["joint 'a'", "'one'", "'two'"],
            id="joint in two blocks",
        ),
        pytest.param(
            (ABC, block("one", claimed("a"), claimed("a"))),
            ["<joint> 'a'", "'one'"],
            id="joint twice in a block",
        ),
        pytest.param(
            (ABC, block("one", claimed("a")), block("one", claimed("b"))),
            ["two <ros2_control> blocks", "'one'"],
            id="two blocks of one name",
        ),
        pytest.param(
            (ABC, joint("a"), block("one", claimed("a"))),
            ["'a'", "twice"],
            id="two joints of one name in the URDF",
        ),
        pytest.param((ABC, block("", claimed("a"))), ["without a name"], id="block without a name"),
        pytest.param(
            (ABC, block("one", claimed("a"), plugin=" ")),
            ["'one'", "no <hardware><plugin>"],
            id="no plugin",
        ),
        pytest.param(
            (ABC, '<ros2_control name="one">' + claimed("a") + "</ros2_control>"),
            ["'one'", "no <hardware><plugin>"],
            id="no hardware",
        ),
        pytest.param((ABC, block("one")), ["'one'", "no joints"], id="no joints at all"),
        pytest.param(
            (ABC, block("one", claimed("a")), block("two", '<sensor name="imu"/>')),
            ["'two'", "element sensor"],
            id="a sensor without joints",
        ),
        pytest.param(
            (ABC, block("one", claimed("a"), '<gpio name="brake"/>')),
            ["'one'", "element gpio"],
            id="an output beside a joint",
        ),
        pytest.param(
            (ABC, block("one", claimed("a")), block("two")),
            ["'two'", "no joints"],
            id="a block without joints",
        ),
        pytest.param(
            (ABC, block("one", claimed("a", COMMANDS[:4]))),
            ["'one'", "'a'", "command_interface", "stiffness", "damping"],
            id="missing command interface",
        ),
        pytest.param(
            (ABC, block("one", claimed("a", (*COMMANDS, "current")))),
            ["'a'", "command_interface", "current"],
            id="unknown command interface",
        ),
        pytest.param(
            (ABC, block("one", claimed("a", (*COMMANDS, "effort")))),
            ["'a'", "command_interface"],
            id="repeated command interface",
        ),
        pytest.param(
            (ABC, block("one", claimed("a", (), STATES))),
            ["'a'", "command_interface", "none"],
            id="no command interface",
        ),
        pytest.param(
            (ABC, block("one", claimed("a", COMMANDS, STATES[:2]))),
            ["'a'", "state_interface", "effort"],
            id="missing state interface",
        ),
        pytest.param(
            (
                ABC,
                block("one", claimed("a", initial='<param name="initial_value">half</param>')),
            ),
            ["'one'", "'a'", "initial_value", "'half'"],
            id="initial value is no number",
        ),
        pytest.param(
            (ABC, block("one", claimed("a", initial='<param name="initial_value">2.1</param>'))),
            ["'one'", "'a' starts at 2.1 rad", "-1 to 2 rad"],
            id="initial value outside of the limits",
        ),
        pytest.param(
            (joint("a", ""), block("one", claimed("a"))),
            ["joint 'a'", "no <limit>"],
            id="no limit",
        ),
    ],
)
def test_a_mistake_is_reported_with_block_and_joint(
    parts: tuple[str, ...], expected: list[str]
) -> None:
    message = _error(robot(*parts))
    for part in expected:
        assert part in message


LIMITS = {"lower": "-1", "upper": "2", "velocity": "3", "effort": "10"}


def _limited(**changes: str | None) -> str:
    attributes = {k: v for k, v in {**LIMITS, **changes}.items() if v is not None}
    text = "".join(f' {key}="{value}"' for key, value in attributes.items())
    return robot(joint("a", f"<limit{text}/>"), block("one", claimed("a")))


@pytest.mark.parametrize("attribute", LIMITS)
def test_a_missing_limit_is_reported(attribute: str) -> None:
    message = _error(_limited(**{attribute: None}))
    assert message == f"joint 'a': <limit> has no '{attribute}'"


@pytest.mark.parametrize("attribute", LIMITS)
@pytest.mark.parametrize("value", ["nan", "inf", "", "ten", "1,5"])
def test_a_limit_that_is_no_finite_number_is_reported(attribute: str, value: str) -> None:
    message = _error(_limited(**{attribute: value}))
    assert message == f"joint 'a': limit {attribute}: expected a finite number, found '{value}'"


@pytest.mark.parametrize(
    "changes",
    [
        {"lower": "2"},
        {"lower": "3"},
        {"velocity": "0"},
        {"velocity": "-1"},
        {"effort": "0"},
        {"effort": "-5"},
    ],
)
def test_limits_that_make_no_sense_are_reported(changes: Any) -> None:
    message = _error(_limited(**changes))
    assert "joint 'a'" in message
    assert "expected lower < upper" in message


def _claims(**inside: str) -> str:
    """Return a joint of a block with more elements in its command interfaces."""
    tags = (
        f'<command_interface name="{c}">{inside.get(c, "")}</command_interface>' for c in COMMANDS
    )
    return claimed("a", ()).replace("</joint>", "".join(tags) + "</joint>")


def param(name: str, value: str) -> str:
    return f'<param name="{name}">{value}</param>'


@pytest.mark.parametrize(("gain", "row"), [("stiffness", 0), ("damping", 1)])
def test_a_gain_may_have_a_maximum(gain: str, row: int) -> None:
    urdf = robot(ABC, block("one", claimed("c"), _claims(**{gain: param("max", "12.5")})))
    limits = parse_robot_description(urdf, 50.0).limits
    assert limits.gains is not None
    assert limits.gains[row].tolist() == [12.5, float("inf")]
    assert limits.gains[1 - row].tolist() == [float("inf")] * 2


@pytest.mark.parametrize(
    ("interface", "low", "high", "expected"),
    [  # lower, upper, velocity, effort, and the soft range
        ("position", "-0.3", "0.4", (-0.3, 0.4, 3.0, 10.0, -0.3, 0.4)),
        ("position", "-0.95", "9", (-0.95, 2.0, 3.0, 10.0, -0.9, 1.8)),
        ("velocity", "-0.2", "0.5", (-1.0, 2.0, 0.2, 10.0, -0.9, 1.8)),
        ("velocity", "-9", "0.5", (-1.0, 2.0, 0.5, 10.0, -0.9, 1.8)),
        ("effort", "-70", "80", (-1.0, 2.0, 3.0, 10.0, -0.9, 1.8)),
        ("effort", "-7", "8", (-1.0, 2.0, 3.0, 7.0, -0.9, 1.8)),
    ],
)
def test_min_and_max_of_a_command_interface_narrow_the_limits(
    interface: str, low: str, high: str, expected: tuple[float, ...]
) -> None:
    inside = {interface: param("min", low) + param("max", high)}
    urdf = robot(joint("a", safety()), block("one", _claims(**inside)))
    description = parse_robot_description(urdf, 50.0)
    limits = description.limits
    rows = (limits.lower, limits.upper, limits.velocity, limits.effort)
    found = (*rows, limits.target_lower, limits.target_upper)
    assert tuple(row.item() for row in found) == expected
    assert description.blocks[0].joints[0].rated_effort == 10.0


@pytest.mark.parametrize(
    ("interface", "limit", "text"),
    [
        *(("damping", "max", text) for text in ("0", "-1", "nan", "inf", "much")),
        ("stiffness", "max", "{5*2}"),
        ("position", "min", "{-2*pi}"),
        ("position", "max", ""),
        ("velocity", "min", "0.2"),
        ("effort", "max", "-3"),
    ],
)
def test_a_min_or_max_that_makes_no_sense_is_refused(interface: str, limit: str, text: str) -> None:
    message = _error(robot(ABC, block("one", _claims(**{interface: param(limit, text)}))))
    assert message.startswith(f"joint 'a': {limit} of {interface}: expected a ")
    assert message.endswith(f"number, found '{text}'") or message.endswith(f" 0, found '{text}'")


@pytest.mark.parametrize(("low", "high"), [("2.5", "3"), ("-3", "-0.95"), ("0.3", "-0.3")])
def test_a_min_and_max_without_a_position_in_the_limits_are_refused(low: str, high: str) -> None:
    inside = param("min", low) + param("max", high)
    message = _error(robot(joint("a", safety()), block("one", _claims(position=inside))))
    assert message.startswith(f"joint 'a': min {low} and max {high} rad of position")


CLAIMED = claimed("a")
BLOCK = block("one", CLAIMED)


@pytest.mark.parametrize(
    ("found", "changed", "element", "expected"),
    [
        ('type="system"', 'type="system" rw_rate="50"', "one", "attribute rw_rate"),
        ('type="system"', 'type="system" is_async="true"', "one", "attribute is_async"),
        ('type="system"', 'type="sensor"', "one", "attribute type"),
        ("<hardware>", "<hardware><group>g</group>", "<hardware>", "element group"),
        ("<hardware>", "<hardware/><hardware>", "one", "two <hardware>"),
        ("<plugin>", '<plugin version="2">', "<plugin>", "attribute version"),
        (
            "</hardware>",
            param("id", "1") + param("id", "2") + "</hardware>",
            "one",
            "two <param> 'id'",
        ),
        ('<joint name="a">', '<joint name="a" role="x">', "<joint name='a'>", "attribute role"),
        (
            "</joint>",
            '<limits enable="false"/></joint>',
            "<limits>",
            "attribute enable = 'false'",
        ),
        (
            "</joint>",
            "<transmission/></joint>",
            "<joint name='a'>",
            "element transmission",
        ),
        (
            "</hardware>",
            '</hardware><transmission name="t"/>',
            "one",
            "element transmission",
        ),
    ],
)
def test_a_part_of_a_block_that_would_have_no_effect_is_refused(
    found: str, changed: str, element: str, expected: str
) -> None:
    assert found in BLOCK
    message = _error(robot(ABC, BLOCK.replace(found, changed, 1)))
    assert message.startswith("<ros2_control name='one'>: ")
    assert element in message
    assert expected in message


@pytest.mark.parametrize(
    ("tag", "name", "parameter", "value"),
    [
        ("command_interface", "stiffness", "maximum", "5"),
        ("command_interface", "stiffness", "min", "5"),
        ("command_interface", "position", "initial_value", "0.5"),
        ("command_interface", "position", "", "0.5"),
        ("state_interface", "position", "min", "0.5"),
        ("state_interface", "velocity", "initial_value", "0.5"),
    ],
)
def test_a_parameter_of_an_interface_that_would_have_no_effect_is_refused(
    tag: str, name: str, parameter: str, value: str
) -> None:
    empty = f'<{tag} name="{name}">'
    inside = _claims().replace(empty, empty + param(parameter, value))
    message = _error(robot(ABC, block("one", inside)))
    assert f"<joint name='a'>: <{tag} name='{name}'>: parameter {parameter} = '{value}'" in message


def test_what_upstreams_blocks_may_say_of_all_joints_is_taken() -> None:
    inside = claimed("a", inside='<limits enable="true"/>')
    state = '<state_interface name="velocity">'
    inside = inside.replace(
        state, state[:-1] + ' data_type="double">' + param("initial_value", "0.0")
    )
    urdf = robot(ABC, block("one", inside).replace('"system"', '"actuator" is_async="false"'))
    assert parse_robot_description(urdf, 50.0).joints.names == ("a",)
