"""Controllers from their parameters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import pytest

from humanoid_control_common.config import Document, StrictModel
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.joints import JointSet
from humanoid_control_common.modes import Mode
from humanoid_controller_manager import loading
from humanoid_controller_manager.controller import ModeGains, RobotFacts
from humanoid_controller_manager.loading import load_controllers
from humanoid_controller_manager.parameters import ControllerEntry


class Gain(StrictModel):
    gain: float


class Damper:
    """A controller that is configured and nothing more."""

    Parameters: ClassVar[type[StrictModel]] = Gain
    mode: ClassVar[Mode] = Mode.DAMPING

    def on_configure(self, parameters: Gain, robot: RobotFacts) -> None:
        if parameters.gain > 100.0:
            raise ConfigError("gain: too much of it")
        self.configured = parameters.gain, robot


class Stiff(Damper):
    """A controller that has gains of its own."""

    @property
    def gains(self) -> ModeGains:
        return ModeGains(20.0, self.configured[0])


class Hardware:
    """Refuses damping above `most` [Nm s/rad]."""

    def __init__(self, most: float) -> None:
        self.most = most

    def check_gains(self, stiffness: float, damping: float, where: str) -> None:
        assert stiffness == 20.0
        if damping > self.most:
            raise ConfigError(f"{where}: damping is {damping:g}")


ANYTHING = Hardware(float("inf"))


class Speaker:
    """A broadcaster: it has no mode."""

    Parameters: ClassVar[type[StrictModel]] = Gain

    def on_configure(self, parameters: Gain, robot: RobotFacts) -> None:
        """Nothing to do."""


@pytest.fixture(autouse=True)
def _plugins(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    known = {"x/Damper": Damper, "x/Speaker": Speaker, "x/Stiff": Stiff}

    def require(group: str, name: str, where: str) -> Any:
        if name not in known:
            raise ConfigError(f"{where}: unknown plugin '{name}'; known: {', '.join(known)}")
        return known[name]

    monkeypatch.setattr(loading, "require_plugin", require)
    yield


@pytest.fixture
def robot(limits_of: Any) -> RobotFacts:
    return RobotFacts(JointSet(("a", "b")), limits_of(2), 50.0)


def _document(name: str) -> Document:
    return Document(f"parameters of {name}", {"gain": 1.0})


def _entries(**types: str) -> dict[str, ControllerEntry]:
    return {name: ControllerEntry(type=kind) for name, kind in types.items()}


def test_controllers_are_configured_in_the_order_given(robot: RobotFacts) -> None:
    loaded = load_controllers(_entries(z="x/Damper", a="x/Damper"), _document, robot, ANYTHING)
    assert [plugin.name for plugin in loaded] == ["z", "a"]
    assert loaded[0].instance.configured == (1.0, robot)
    assert loaded[0].instance is not loaded[1].instance


def test_a_controller_gets_a_slot_with_its_fallbacks_and_a_broadcaster_none(
    robot: RobotFacts,
) -> None:
    entries = {
        "d": ControllerEntry(type="x/Damper", fallback_controllers=["e"]),
        "s": ControllerEntry(type="x/Speaker"),
    }
    damper, speaker = load_controllers(entries, _document, robot, ANYTHING)
    assert damper.slot is not None
    assert (damper.slot.name, damper.slot.fallbacks) == ("d", ("e",))
    assert speaker.slot is None


def test_an_unknown_plugin_is_told_with_the_controller(robot: RobotFacts) -> None:
    with pytest.raises(ConfigError, match=r"controller 'd': unknown plugin 'x/No'; known: x/D"):
        load_controllers(_entries(d="x/No"), _document, robot, ANYTHING)


def test_wrong_parameters_are_told_with_the_controller(robot: RobotFacts) -> None:
    with pytest.raises(ConfigError, match=r"^d: parameters of d: 'gain'.*'a lot'"):
        load_controllers(
            _entries(d="x/Damper"),
            lambda n: Document(f"parameters of {n}", {"gain": "a lot"}),
            robot,
            ANYTHING,
        )


def test_what_a_controller_refuses_is_told_with_its_name(robot: RobotFacts) -> None:
    with pytest.raises(ConfigError, match=r"d: gain: too much of it"):
        load_controllers(
            _entries(d="x/Damper"), lambda n: Document(n, {"gain": 1e3}), robot, ANYTHING
        )


def test_gains_that_the_hardware_cannot_have_are_refused_with_their_place(
    robot: RobotFacts,
) -> None:
    entries = _entries(stiff="x/Stiff")
    with pytest.raises(ConfigError, match=r"^parameters of stiff: stiff: damping is 1$"):
        load_controllers(entries, _document, robot, Hardware(0.9))
    assert len(load_controllers(entries, _document, robot, Hardware(1.0))) == 1
