"""The semantic robot description (SRDF): the pairs of links that need no collision check."""

from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum
from typing import Final
from xml.etree import ElementTree
from xml.etree.ElementTree import Element
from xml.parsers import expat

from humanoid_control_common.errors import ConfigError
from humanoid_motion.collision.clearance import LinkPair

PAIR: Final = "disable_collisions"


class Cause(StrEnum):
    """The reason for which a pair needs no check, in the words of MoveIt's setup assistant."""

    ADJACENT = "Adjacent"  # one joint moves them against each other
    # They overlap at the zero pose, or at the one that is nearest within the joint limits: the
    # shapes are too large there.
    DEFAULT = "Default"
    ALWAYS = "Always"  # they overlap at every pose that was tried
    NEVER = "Never"  # no angles within the joint limits let them touch: proven


def parse_disabled_pairs(srdf: str, where: str) -> dict[LinkPair, str]:
    """Return the disabled pairs of an SRDF text with their reasons.

    Raises ConfigError that begins with `where` and names the error.
    """
    root = _root(srdf, where)
    return {
        _pair(element, f"{where}: {PAIR} {number}"): element.get("reason", "")
        for number, element in enumerate(root.findall(PAIR), start=1)
    }


def refuse_unknown_links(pairs: Iterable[LinkPair], links: Collection[str], where: str) -> None:
    """Raise ConfigError that begins with `where` if a pair has a link that is not in `links`."""
    for pair in pairs:
        for link in (pair.first, pair.second):
            if link not in links:
                raise ConfigError(
                    f"{where}: {PAIR} of {pair}: the robot has no link '{link}'; it has "
                    + ", ".join(sorted(links))
                )


def refuse_other_robot(srdf: str, robot: str, where: str) -> None:
    """Raise ConfigError that begins with `where` if an SRDF text is not of `robot`."""
    found = _root(srdf, where).get("name")
    if found != robot:
        raise ConfigError(
            f"{where}: it is of the robot '{found}', expected '{robot}': its pairs hold for that "
            "robot's shapes and limits only; `hc srdf` writes those of another one"
        )


def with_disabled_pairs(srdf: str, disabled: Mapping[LinkPair, str], where: str) -> str:
    """Return the SRDF text with these disabled pairs instead of its own.

    Groups, end effectors and comments stay. Raises ConfigError, see `parse_disabled_pairs`.
    """
    root = _root(srdf, where)
    for element in root.findall(PAIR):
        root.remove(element)
    for pair, reason in sorted(disabled.items()):
        ElementTree.SubElement(root, PAIR, link1=pair.first, link2=pair.second, reason=reason)
    ElementTree.indent(root)
    before, after = _around_root(srdf)
    return f"{before}{ElementTree.tostring(root, encoding='unicode')}{after.rstrip()}\n"


def _around_root(srdf: str) -> tuple[str, str]:
    """Return what is before and after the root element of valid XML: declaration, comments."""
    begins: list[int] = []
    ends: list[int] = []
    parser = expat.ParserCreate("utf-8")
    parser.StartElementHandler = lambda *_: begins.append(parser.CurrentByteIndex)
    parser.EndElementHandler = lambda *_: ends.append(parser.CurrentByteIndex)
    content = srdf.encode()
    parser.Parse(content, True)
    end = ends[-1]  # of <robot/>; else the beginning of </robot>
    if content[end : end + 2] == b"</":
        end = content.index(b">", end) + 1
    return content[: begins[0]].decode(), content[end:].decode()


def _root(srdf: str, where: str) -> Element:
    try:
        parser = ElementTree.XMLParser(target=ElementTree.TreeBuilder(insert_comments=True))
        root = ElementTree.fromstring(srdf, parser)
    except ElementTree.ParseError as error:
        raise ConfigError(f"{where}: not valid XML: {error}") from error
    if root.tag != "robot" or not root.get("name"):
        raise ConfigError(f"{where}: the root is <{root.tag}>, expected <robot name=…>")
    return root


def _pair(element: Element, where: str) -> LinkPair:
    one, other = element.get("link1"), element.get("link2")
    if not one or not other:
        raise ConfigError(f"{where}: link1 is {one!r} and link2 is {other!r}, expected two links")
    if one == other:
        raise ConfigError(f"{where}: link1 and link2 are both {one!r}, expected two links")
    return LinkPair.of(one, other)
