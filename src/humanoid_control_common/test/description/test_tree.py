"""Links and joints that are no tree are refused, by name."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from humanoid_control_common.description.tree import check_names, check_tree, massless
from humanoid_control_common.errors import ConfigError

LINKS = '<link name="a"/><link name="b"/><link name="c"/>'


def joint(name: str, parent: str, child: str, kind: str = "revolute", more: str = "") -> str:
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="{kind}">{ends}{more}</joint>'


def robot(*joints: str, links: str = LINKS) -> ElementTree.Element:
    return ElementTree.fromstring(f"<robot>{links}{''.join(joints)}</robot>")


GOOD = joint("i", "a", "b"), joint("j", "b", "c")


def test_a_tree_passes_whatever_the_axis_of_what_is_fixed() -> None:
    """CAD programs write 0 0 0 as this axis."""
    check_tree(robot(*GOOD))
    check_tree(robot(GOOD[0], joint("j", "b", "c", "fixed", '<axis xyz="0 0 0"/>')))


@pytest.mark.parametrize(
    ("joints", "message"),
    [
        ((GOOD[0], joint("i", "b", "c")), "joint 'i' occurs twice: rename one"),
        ((GOOD[0], joint("", "b", "c")), "a <joint> has no name"),
        ((GOOD[0], joint("j", "b", "d")), "joint 'j': its child 'd' is no link: .* a, b, c"),
        ((GOOD[0], joint("j", "d", "c")), "joint 'j': its parent 'd' is no link"),
        ((*GOOD, joint("k", "a", "c")), "link 'c' is the child of joint 'j' and of joint 'k'"),
        ((GOOD[0],), "links without a parent: 'a', 'c', expected one"),
        ((*GOOD, joint("k", "c", "a")), "links without a parent: none"),
        ((joint("i", "b", "c"), joint("j", "c", "b")), "links b, c are not connected to 'a'"),
        (
            (GOOD[0], joint("j", "b", "c", more='<axis xyz="0 0 0"/>')),
            "joint 'j': axis '0 0 0', expected three numbers that are not all 0",
        ),
        ((GOOD[0], joint("j", "b", "c", more='<axis xyz="0 1"/>')), "joint 'j': axis '0 1'"),
        ((GOOD[0], joint("j", "b", "c", more='<axis xyz="0 nan 1"/>')), "joint 'j': axis"),
        (
            (GOOD[0], joint("j", "b", "c", more="<limit/><limit/>")),
            "joint 'j': it has more than one <limit>: remove",
        ),
    ],
)
def test_a_description_that_is_no_tree_is_refused_by_name(
    joints: tuple[str, ...], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        check_tree(robot(*joints))


def test_links_of_the_same_name_are_refused() -> None:
    with pytest.raises(ConfigError, match="link 'a' occurs twice"):
        check_tree(robot(*GOOD, links=LINKS + '<link name="a"/>'))


def test_a_description_without_links_is_refused() -> None:
    with pytest.raises(ConfigError, match="no <link> in <robot>"):
        check_tree(robot(links=""))


def test_a_chain_of_any_length_is_checked() -> None:
    count = 2000
    links = "".join(f'<link name="l{i}"/>' for i in range(count))
    chain = [joint(f"j{i}", f"l{i}", f"l{i + 1}", "fixed") for i in range(count - 1)]
    check_tree(robot(*chain, links=links))
    with pytest.raises(ConfigError, match="links without a parent: 'l0', 'l9'"):
        check_tree(robot(*chain[:8], *chain[9:], links=links))


def test_joint_that_moves_only_massless_links_is_found() -> None:
    heavy = {"a", "c"}
    assert massless(robot(*GOOD), heavy) == [("i", "b")]
    assert massless(robot(GOOD[0], joint("j", "b", "c", "fixed")), heavy) == []


def test_a_name_with_a_space_is_refused() -> None:
    check_names(robot(*GOOD))
    with pytest.raises(ConfigError, match="joint 'i 1': its name has a space: rename it"):
        check_names(robot(joint("i 1", "a", "b")))
