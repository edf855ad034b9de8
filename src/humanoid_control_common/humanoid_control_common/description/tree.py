"""Links and joints of a description: names, and one tree that connects them."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final
from xml.etree.ElementTree import Element

from humanoid_control_common.errors import ConfigError

_FIXED: Final = "fixed"
_ONCE: Final = {  # children of which a parent has one at most
    "link": ("inertial",),
    "joint": ("origin", "axis", "limit", "dynamics", "safety_controller", "mimic"),
}
_LEAST_AXIS: Final = 1e-9  # length of an axis


def check_tree(robot: Element) -> None:
    """Check the links and joints of a description, whose root is `robot`.

    Raises ConfigError, naming link or joint, for a name that occurs twice or is missing, an element
    that occurs twice in its link or joint, a link that does not exist, links that are no tree, and
    a joint with an axis of length 0.
    """
    links = _names(robot, "link")
    if not links:
        raise ConfigError("the description has no <link> in <robot>, expected one at least")
    _names(robot, "joint")
    carriers: dict[str, str] = {}  # joint that carries a link, by link
    for joint in robot.findall("joint"):
        where = f"joint '{joint.get('name', '')}'"
        child = _ends(joint, links, where)
        if child in carriers:
            raise ConfigError(
                f"link '{child}' is the child of {carriers[child]} and of {where}, expected one: "
                "a description has no closed chains: remove one of them"
            )
        carriers[child] = where
        if joint.get("type") != _FIXED:
            _check_axis(joint, where)
    _check_connected(robot, links, carriers)


def _ends(joint: Element, links: Sequence[str], where: str) -> str:
    """Return the child of a joint. Raises ConfigError unless it and the parent are links."""
    for end in ("parent", "child"):
        if _link(joint, end) not in links:
            raise ConfigError(
                f"{where}: its {end} '{_link(joint, end)}' is no link: the description has "
                f"{', '.join(links)}: correct the name"
            )
    return _link(joint, "child")


def _check_connected(robot: Element, links: Sequence[str], carried: Collection[str]) -> None:
    """Raise ConfigError unless one of `links`, which no joint carries, carries all others."""
    roots = [link for link in links if link not in carried]
    if len(roots) != 1:
        found = ", ".join(f"'{link}'" for link in roots) or "none"
        raise ConfigError(
            f"links without a parent: {found}, expected one: connect all links by joints"
        )
    children: dict[str, list[str]] = {}
    for joint in robot.findall("joint"):
        children.setdefault(_link(joint, "parent"), []).append(_link(joint, "child"))
    reached = _reached(roots[0], children)
    if loose := [link for link in links if link not in reached]:
        raise ConfigError(
            f"links {', '.join(loose)} are not connected to '{roots[0]}', which has no parent: "
            "connect all links by joints"
        )


def massless(robot: Element, heavy: Collection[str]) -> list[tuple[str, str]]:
    """Return the joints that move none of the links `heavy`, with their links.

    What is fixed to a link moves with it.
    """
    carried: dict[str, list[str]] = {}  # links that are fixed to a link
    for joint in robot.findall("joint"):
        if joint.get("type") == _FIXED:
            carried.setdefault(_link(joint, "parent"), []).append(_link(joint, "child"))
    moving = [joint for joint in robot.findall("joint") if joint.get("type") != _FIXED]
    return [
        (joint.get("name", ""), _link(joint, "child"))
        for joint in moving
        if _reached(_link(joint, "child"), carried).isdisjoint(heavy)
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


def _reached(link: str, children: Mapping[str, Sequence[str]]) -> set[str]:
    """Return `link`, its children, and theirs."""
    found: set[str] = set()
    waiting = [link]
    while waiting:
        found.add(waiting[-1])
        waiting += children.get(waiting.pop(), ())
    return found


def _names(robot: Element, tag: str) -> Sequence[str]:
    names = [element.get("name", "") for element in robot.findall(tag)]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"{tag} '{name}' occurs twice: rename one of them")
        if not name:
            raise ConfigError(f"a <{tag}> has no name: name it")
    for element in robot.findall(tag):
        _check_children(element)
    return names


def _check_children(element: Element) -> None:
    for child in _ONCE[element.tag]:
        if len(element.findall(child)) > 1:
            raise ConfigError(
                f"{element.tag} '{element.get('name')}': it has more than one <{child}>: remove "
                "the others"
            )


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
