"""The <ros2_control> blocks, limits and joints of a robot description (URDF)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from xml.etree import ElementTree

import numpy as np

from humanoid_control_common.errors import ConfigError, of_each
from humanoid_control_common.robot.joints import JointLimits, JointSet, SoftLimits
from humanoid_control_common.robot.mit_interface import COMMAND_INTERFACES, STATE_INTERFACES
from humanoid_controller_manager.hardware.block_parameters import number, refuse_without_effect
from humanoid_controller_manager.hardware_component import HardwareInfo, JointInfo

GAINS = ("stiffness", "damping")
LIMIT_ATTRIBUTES = ("lower", "upper", "velocity", "effort")
HARDWARE_FILE = "hardware_file"  # parameter of a block: the file that its parameters are from
MOCK = "mock_components/GenericSystem"  # as in ros2_control
_MOVING = "revolute"
_LIMIT = "lower and upper [rad], and effort [Nm] and velocity [rad/s] of the drive"


@dataclass(frozen=True, slots=True)
class RobotDescription:
    """A parsed URDF. Joints are in the order of the URDF's <joint> elements."""

    name: str
    joints: JointSet
    limits: JointLimits
    blocks: tuple[HardwareInfo, ...]
    urdf: str

    @property
    def mocked(self) -> tuple[str, ...]:
        """The joints of mock hardware: nobody measures them."""
        return tuple(it.name for own in self.blocks if own.plugin == MOCK for it in own.joints)


def parse_robot_description(urdf: str, update_rate: float) -> RobotDescription:
    """Return joints, limits and hardware blocks of `urdf`; `update_rate` [Hz] is that of the loop.

    Raises ConfigError: not XML, no block, a part of a block that would have no effect, a joint of a
    block that is unknown, in two blocks, not revolute or moved by another one, a missing interface
    or limit, limits of a block that leave no range.
    """
    root = _parse(urdf)
    elements = _joint_elements(root)
    blocks = root.findall("ros2_control")
    if not blocks:
        raise ConfigError("robot description: no <ros2_control> block")
    names = [block.get("name", "") for block in blocks]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ConfigError(f"two <ros2_control> blocks are named '{repeated[0]}'")
    for block in blocks:
        refuse_without_effect(block)
    claimed = _claimed_joints(blocks, elements)
    joints = JointSet(tuple(name for name in elements if name in claimed))
    limits = _limits([(elements[name], claimed[name]) for name in joints.names])
    return RobotDescription(
        name=root.get("name", ""),
        joints=joints,
        limits=limits,
        blocks=tuple(
            _block(block, joints, limits, update_rate, urdf, elements) for block in blocks
        ),
        urdf=urdf,
    )


def _parse(urdf: str) -> ElementTree.Element:
    if not urdf.strip():
        raise ConfigError("robot description is empty")
    try:
        root = ElementTree.fromstring(urdf)
    except ElementTree.ParseError as error:
        line = error.position[0]
        lines = urdf.splitlines()
        found = lines[line - 1].strip()[:80] if 0 < line <= len(lines) else ""
        raise ConfigError(
            f"robot description:{line}: not valid XML: {error} (at '{found}')"
        ) from error
    if root.tag != "robot":
        raise ConfigError(f"robot description: root element is <{root.tag}>, expected <robot>")
    return root


def _joint_elements(root: ElementTree.Element) -> dict[str, ElementTree.Element]:
    elements: dict[str, ElementTree.Element] = {}
    for joint in root.findall("joint"):
        name = joint.get("name", "")
        if name in elements:
            raise ConfigError(f"robot description: joint '{name}' occurs twice: rename one of them")
        elements[name] = joint
    return elements


def _claimed_joints(
    blocks: list[ElementTree.Element], elements: dict[str, ElementTree.Element]
) -> dict[str, ElementTree.Element]:
    """Return the element of each joint in its block, by joint name."""
    claimed: dict[str, ElementTree.Element] = {}
    owners: dict[str, str] = {}
    for block in blocks:
        name = block.get("name", "")
        if block.find("joint") is None:
            raise ConfigError(f"<ros2_control name='{name}'>: no joints")
        for joint in block.findall("joint"):
            joint_name = joint.get("name", "")
            if joint_name not in elements:
                raise ConfigError(
                    f"<ros2_control name='{name}'>: unknown joint '{joint_name}'; "
                    f"the URDF has: {', '.join(elements)}"
                )
            if joint_name in claimed:
                raise ConfigError(
                    f"joint '{joint_name}' is in <ros2_control name='{owners[joint_name]}'> "
                    f"and again in '{name}'"
                )
            _check_kind(elements[joint_name], name)
            claimed[joint_name], owners[joint_name] = joint, name
    return claimed


def _check_kind(joint: ElementTree.Element, block: str) -> None:
    """Raise ConfigError for a joint that no drive can turn: all figures are angles and torques."""
    where = f"<ros2_control name='{block}'>: joint '{joint.get('name')}'"
    kind = joint.get("type", "")
    if kind != _MOVING:
        raise ConfigError(f"{where} is {kind or 'of no type'}, expected {_MOVING}")
    mimic = joint.find("mimic")
    if mimic is not None:
        raise ConfigError(
            f"{where} mimics '{mimic.get('joint', '')}', so it has no drive of its own: remove "
            "<mimic> if it has one; else take the joint out of the block and make it fixed"
        )


def _limits(pairs: Sequence[tuple[ElementTree.Element, ElementTree.Element]]) -> JointLimits:
    """Return the limits of joints, each given as its element in the URDF and in its block."""
    own = of_each(_limit_row, [element for element, _ in pairs])
    rows, soft, gains = [], [], []
    for row, (element, claimed) in zip(own, pairs, strict=True):
        narrowed, soft_row = _narrowed(row, _soft_row(element, row), claimed)
        rows.append(narrowed)
        soft.append(soft_row)
        gains.append([_range(claimed, gain)[1] for gain in GAINS])
    lower, upper, velocity, effort = np.array(rows).T.copy()
    soft_limits = SoftLimits(*np.array(soft).T.copy())
    return JointLimits(lower, upper, velocity, effort, soft_limits, np.array(gains).T.copy())


def _narrowed(
    row: list[float], soft: list[float], claimed: ElementTree.Element
) -> tuple[list[float], list[float]]:
    """Return both rows within min and max of the command interfaces, which never widen them.

    As in ros2_control the stricter one of min and max limits velocity and effort both ways.
    """
    lower, upper = _range(claimed, "position")
    velocity, effort = (
        min(own, *np.abs(_range(claimed, name)))
        for own, name in zip(row[2:], ("velocity", "effort"), strict=True)
    )
    found = [max(row[0], lower), min(row[1], upper), float(velocity), float(effort)]
    target = [max(soft[0], lower), min(soft[1], upper)]
    if not target[0] < target[1]:
        raise ConfigError(
            f"joint '{claimed.get('name')}': min {lower:g} and max {upper:g} rad of position leave "
            f"no range within {soft[0]:g} to {soft[1]:g} rad, the limits of its targets"
        )
    return found, target + soft[2:]


def _range(claimed: ElementTree.Element, interface: str) -> tuple[float, float]:
    """Return min and max of a command interface of a block's joint; infinite where not given.

    Raises ConfigError for a value that is no number, and a max that is not positive, or a min that
    is not negative, of another interface than position.
    """
    least = -np.inf if interface == "position" else 0.0
    found = []
    for key, sign in (("min", -1.0), ("max", 1.0)):
        text = claimed.findtext(f"command_interface[@name='{interface}']/param[@name='{key}']")
        where = f"joint '{claimed.get('name')}': {key} of {interface}"
        value = sign * np.inf if text is None else number(text, where)
        if sign * value <= least:
            expected = f"expected a number {'above' if sign > 0 else 'below'} 0"
            raise ConfigError(f"{where}: {expected}, found '{text}'")
        found.append(value)
    return found[0], found[1]


def _limit_row(element: ElementTree.Element) -> list[float]:
    name = element.get("name", "")
    limit = element.find("limit")
    if limit is None:
        raise ConfigError(f"joint '{name}': no <limit>: write {_LIMIT}")
    row = []
    for attribute in LIMIT_ATTRIBUTES:
        text = limit.get(attribute)
        if text is None:
            raise ConfigError(f"joint '{name}': <limit> has no '{attribute}'")
        row.append(number(text, f"joint '{name}': limit {attribute}"))
    lower, upper, velocity, effort = row
    if not lower < upper or velocity <= 0 or effort <= 0:
        raise ConfigError(
            f"joint '{name}': limits lower {lower:g}, upper {upper:g}, velocity {velocity:g}, "
            f"effort {effort:g}; expected lower < upper, velocity > 0, effort > 0: write {_LIMIT}"
        )
    return row


def _soft_row(element: ElementTree.Element, limit: list[float]) -> list[float]:
    """Return lower, upper, k_position and k_velocity of <safety_controller>, else hard limits."""
    name = element.get("name", "")
    safety = element.find("safety_controller")
    attributes = {} if safety is None else safety.attrib
    lower, upper = limit[:2]
    defaults = {"soft_lower_limit": lower, "soft_upper_limit": upper, "k_position": 0.0}
    row = [
        number(attributes.get(key, str(default)), f"joint '{name}': safety_controller {key}")
        for key, default in (defaults | {"k_velocity": 0.0}).items()
    ]
    soft_lower, soft_upper, k_position, k_velocity = row
    if not lower <= soft_lower < soft_upper <= upper or min(k_position, k_velocity) < 0.0:
        raise ConfigError(
            f"joint '{name}': safety_controller from {soft_lower:g} to {soft_upper:g}, "
            f"k_position {k_position:g}, k_velocity {k_velocity:g}; expected a range within the "
            f"limits {lower:g} to {upper:g} and no negative gain"
        )
    return row


def _block(
    block: ElementTree.Element,
    joints: JointSet,
    limits: JointLimits,
    update_rate: float,
    urdf: str,
    of_urdf: Mapping[str, ElementTree.Element],
) -> HardwareInfo:
    name = block.get("name")
    if not name:
        raise ConfigError("<ros2_control> block without a name")
    plugin = block.findtext("hardware/plugin", "").strip()
    if not plugin:
        raise ConfigError(f"<ros2_control name='{name}'>: no <hardware><plugin>")
    elements = block.findall("joint")
    own = limits.of(joints.indices(joint.get("name", "") for joint in elements))
    ranges = zip(elements, own.lower.tolist(), own.upper.tolist(), strict=True)
    infos = []
    for joint, lower, upper in ranges:
        info = _joint_info(joint, lower, upper, name)
        infos.append(replace(info, rated_effort=_limit_row(of_urdf[info.name])[-1]))
    parameters = dict(_parameters(block.find("hardware")))
    file = parameters.pop(HARDWARE_FILE, "")
    return HardwareInfo(
        name=name,
        plugin=plugin,
        parameters=parameters,
        joints=tuple(infos),
        limits=own,
        update_rate=update_rate,
        urdf=urdf,
        file=file,
    )


def _parameters(element: ElementTree.Element | None) -> Iterator[tuple[str, str]]:
    if element is not None:
        for parameter in element.findall("param"):
            yield parameter.get("name", ""), (parameter.text or "").strip()


def _joint_info(joint: ElementTree.Element, lower: float, upper: float, block: str) -> JointInfo:
    name = joint.get("name", "")
    where = f"<ros2_control name='{block}'>: joint '{name}'"
    for tag, expected in (
        ("command_interface", COMMAND_INTERFACES),
        ("state_interface", STATE_INTERFACES),
    ):
        found = [element.get("name", "") for element in joint.findall(tag)]
        if sorted(found) != sorted(expected):
            raise ConfigError(
                f"{where}: <{tag}> elements are {', '.join(found) or 'none'}; "
                f"expected {', '.join(expected)}"
            )
    initial = min(max(0.0, lower), upper)
    for element in joint.findall("state_interface"):
        text = dict(_parameters(element)).get("initial_value")
        if element.get("name") == "position" and text is not None:
            initial = number(text, f"{where}: initial_value")
    if not lower <= initial <= upper:
        raise ConfigError(
            f"{where} starts at {initial:g} rad (initial_value of its position state), expected "
            f"an angle within its limits, {lower:g} to {upper:g} rad"
        )
    return JointInfo(name=name, parameters=dict(_parameters(joint)), initial_position=initial)
