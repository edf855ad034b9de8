"""The permission of a parent process to go on."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest

from humanoid_control_common.machine.start_permission import VARIABLE, StartPermission, Step


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[bytes], StartPermission]]:
    """Make the permission of a parent that has written some bytes, and ended."""
    made: list[StartPermission] = []

    def permission(written: bytes) -> StartPermission:
        reader, writer = os.pipe()
        os.write(writer, written)
        os.close(writer)
        monkeypatch.setenv(VARIABLE, str(reader))
        made.append(StartPermission())
        return made[-1]

    yield permission
    for it in made:
        if it._pipe is not None:
            os.close(it._pipe)


def test_program_that_was_started_in_its_turn_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    permission = StartPermission()
    assert permission.wait_for(Step.CONFIGURE)
    assert permission.wait_for(Step.START)


def test_each_step_needs_its_own_permission(given: Callable[[bytes], StartPermission]) -> None:
    permission = given(b"c")
    assert permission.wait_for(Step.CONFIGURE)
    assert not permission.wait_for(Step.START)


def test_program_may_wait_for_the_last_step_only(
    given: Callable[[bytes], StartPermission],
) -> None:
    assert not given(b"c").wait_for(Step.START)
    permission = given(b"cs")
    assert permission.wait_for(Step.START)
    assert permission.wait_for(Step.START), "a permission stays"


def test_start_is_not_permitted_when_the_parent_has_ended(
    given: Callable[[bytes], StartPermission],
) -> None:
    permission = given(b"")
    assert not permission.wait_for(Step.CONFIGURE)
    assert not permission.wait_for(Step.START)


def test_child_processes_do_not_inherit_the_start_permission(
    given: Callable[[bytes], StartPermission],
) -> None:
    permission = given(b"")
    assert VARIABLE not in os.environ
    assert permission._pipe is not None
    assert not os.get_inheritable(permission._pipe)
