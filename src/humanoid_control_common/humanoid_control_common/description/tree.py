"""Links and joints of a description: names, and one tree that connects them."""

from collections.abc import Iterator, Sequence
from typing import Final
from xml.etree.ElementTree import Element

from humanoid_control_common.errors import ConfigError

_FIXED: Final = "fixed"
_LEAST_AXIS: Final = 1e-9  # length of an axis


def check_tree(robot: Element) -> None:
    """Check the links and joints of a description, whose root is `robot`.

    Raises ConfigError, naming link or joint, for a name that occurs twice or is missing, a link
    that does not exist, links that are no tree, and a joint with an axis of length 0.
    """
    links = _names(robot, "link")
    _names(robot, "joint")
    joints = robot.findall("joint")
    carriers: dict[str, str] = {}  # joint that carries a link, by link
    for joint in joints:
        where = f"joint '{joint.get('name', '')}'"
        for end in ("parent", "child"):
            if _link(joint, end) not in links:
                raise ConfigError(
                    f"{where}: its {end} '{_link(joint, end)}' is no link: the description has "
                    f"{', '.join(links)}: correct the name"
                )
        child = _link(joint, "child")
        if child in carriers:
            raise ConfigError(
                f"link '{child}' is the child of {carriers[child]} and of {where}, expected one: "
                "a description has no closed chains: remove one of them"
            )
        carriers[child] = where
        if joint.get("type") != _FIXED:
            _check_axis(joint, where)
    roots = [link for link in links if link not in carriers]
    if len(roots) != 1:
        found = ", ".join(f"'{link}'" for link in roots) or "none"
        raise ConfigError(
            f"links without a parent: {found}, expected one: connect all links by joints"
        )
    reached = set(_below(roots[0], joints))
    if loose := [link for link in links if link not in reached]:
        raise ConfigError(
            f"links {', '.join(loose)} are not connected to '{roots[0]}', which has no parent: "
            "connect all links by joints"
        )


def _below(link: str, joints: Sequence[Element]) -> Iterator[str]:
    """Yield `link` and all links that it carries."""
    yield link
    for joint in joints:
        if _link(joint, "parent") == link:
            yield from _below(_link(joint, "child"), joints)


def massless(robot: Element) -> list[tuple[str, str]]:
    """Return the joints that move nothing with an `<inertial>`, with their links.

    What is fixed to a link moves with it.
    """
    carried: dict[str, list[str]] = {}  # links that are fixed to a link
    for joint in robot.findall("joint"):
        if joint.get("type") == _FIXED:
            carried.setdefault(_link(joint, "parent"), []).append(_link(joint, "child"))
    heavy = {
        link.get("name", "") for link in robot.findall("link") if link.find("inertial") is not None
    }
    moving = [joint for joint in robot.findall("joint") if joint.get("type") != _FIXED]
    return [
        (joint.get("name", ""), _link(joint, "child"))
        for joint in moving
        if heavy.isdisjoint(_rigid(_link(joint, "child"), carried))
    ]


def check_names(robot: Element) -> None:
    """Raise ConfigError for a link or joint whose name has a space."""
    for element in (*robot.findall("link"), *robot.findall("joint")):
        name = element.get("name", "")
        if any(letter.isspace() for letter in name):
            raise ConfigError(
                f"{element.tag} '{name}': its name has a space: rename it: frames, interfaces and "
                "commands have this name"
            )


def _rigid(link: str, carried: dict[str, list[str]]) -> list[str]:
    """Return `link` and all that is fixed to it."""
    return [link, *(it for child in carried.get(link, ()) for it in _rigid(child, carried))]


def _names(robot: Element, tag: str) -> Sequence[str]:
    names = [element.get("name", "") for element in robot.findall(tag)]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"{tag} '{name}' occurs twice: rename one of them")
        if not name:
            raise ConfigError(f"a <{tag}> has no name: name it")
    return names


def _link(joint: Element, end: str) -> str:
    element = joint.find(end)
    return "" if element is None else element.get("link", "")


def _check_axis(joint: Element, where: str) -> None:
    axis = joint.find("axis")
    text = "1 0 0" if axis is None else axis.get("xyz", "1 0 0")
    try:
        values = [float(word) for word in text.split()]
    except ValueError:
        values = []
    length = sum(value * value for value in values) ** 0.5
    if len(values) != 3 or not _LEAST_AXIS < length < float("inf"):
        raise ConfigError(f"{where}: axis '{text}', expected three numbers that are not all 0")
