"""Plug-ins are found by name; errors list the known names."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest

from humanoid_control_common.errors import ConfigError
from humanoid_controller_manager import plugins
from humanoid_controller_manager.hardware.generic_system import GenericSystem
from humanoid_controller_manager.plugins import (
    HARDWARE,
    find_plugin,
    known_plugins,
    require_plugin,
)

GROUP = "test.group"
POINTS = {
    "good/One": "json:loads",
    "bad/NoModule": "no_such_module_anywhere:Thing",
    "bad/NoAttribute": "json:no_such_thing",
    "bad/Program": "program_that_exits:Thing",
}


@pytest.fixture
def group(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Four plugins of which three are broken."""
    (tmp_path / "program_that_exits.py").write_text("raise SystemExit(2)\n")
    monkeypatch.syspath_prepend(tmp_path)
    points = [EntryPoint(name, value, GROUP) for name, value in POINTS.items()]

    plugins._installed.cache_clear()
    monkeypatch.setattr(plugins, "entry_points", lambda: EntryPoints(points))
    yield
    plugins._installed.cache_clear()


def test_the_mock_hardware_is_installed_under_its_upstream_name() -> None:
    assert find_plugin(HARDWARE, "mock_components/GenericSystem") is GenericSystem


def test_an_unknown_plugin_is_answered_with_the_known_ones(group: None) -> None:
    with pytest.raises(ConfigError) as caught:
        require_plugin(GROUP, "good/Two", "controller 'x'")
    assert str(caught.value) == (
        "controller 'x': unknown plugin 'good/Two'; known: bad/NoAttribute, bad/NoModule, "
        "bad/Program, good/One. For a plug-in of another workspace, source that workspace in the "
        "shell that starts the robot, or in that of `hc load`"
    )


def test_an_unknown_plugin_is_refused_if_none_is_installed(group: None) -> None:
    with pytest.raises(ConfigError, match="known: none"):
        require_plugin("another.group", "x", "here")


def test_a_plugin_is_loaded_by_its_name(group: None) -> None:
    import json

    assert require_plugin(GROUP, "good/One", "here") is json.loads
    assert find_plugin(GROUP, "good/Two") is None
    assert known_plugins(GROUP) == sorted(POINTS)


@pytest.mark.parametrize("name", ["bad/NoModule", "bad/NoAttribute", "bad/Program"])
def test_a_plugin_that_cannot_be_imported_is_named_with_the_cause(group: None, name: str) -> None:
    with pytest.raises(ConfigError) as caught:
        find_plugin(GROUP, name)
    for part in (name, POINTS[name], "cannot be imported"):
        assert part in str(caught.value)
