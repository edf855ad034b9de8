"""Instances of controllers that break their contract when they are configured."""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest
from pydantic import field_validator

from humanoid_control_common.configuration.config import Document, StrictModel
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.mit_interface import Capability
from humanoid_control_common.rules.modes import Mode
from humanoid_controller_manager.controller import Controller, ModeGains, RobotFacts
from humanoid_controller_manager.hardware.hardware_group import HardwareGroup
from humanoid_controller_manager.switching.plugin_checks import configured_instance


class Gain(StrictModel):
    gain: float


class Stiff(Controller):
    """A controller that is configured and nothing more."""

    Parameters: ClassVar[type[StrictModel]] = Gain
    mode: ClassVar[Mode] = Mode.STANDBY
    needs: ClassVar[Mapping[str, Capability]] = {}

    def on_configure(self, parameters: Gain, robot: RobotFacts) -> None:
        pass

    def _not_called(self, *_: object) -> None:
        raise AssertionError("there is no loop")

    on_activate = update = _not_called  # type: ignore[assignment]


class _OwnMode(Stiff):
    def on_configure(self, parameters: Gain, robot: RobotFacts) -> None:
        super().on_configure(parameters, robot)
        self.mode = Mode.REMOTE  # type: ignore[misc]


class _OwnNeeds(Stiff):
    def on_configure(self, parameters: Gain, robot: RobotFacts) -> None:
        super().on_configure(parameters, robot)
        self.needs = {}  # type: ignore[misc]


class _Number(Stiff):
    gains = property(lambda self: 20.0)  # type: ignore[assignment]


class _Arrays(Stiff):
    gains = property(lambda self: ModeGains(np.ones(2), np.ones(2)))  # type: ignore[assignment, arg-type]


class _Mask(Stiff):
    compensates_gravity = property(lambda self: np.ones(2, dtype=bool))  # type: ignore[assignment]


class _Cancelled(Stiff):
    def on_configure(self, parameters: Gain, robot: RobotFacts) -> None:
        raise CancelledError


class _Checked(StrictModel):
    gain: float

    @field_validator("gain")
    @classmethod
    def _check(cls, value: float) -> float:
        raise KeyError(value)


class _OwnParameters(Stiff):
    Parameters = _Checked


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (_OwnMode, "c: attribute 'mode' hides that of the class"),
        (_OwnNeeds, "c: attribute 'needs' hides that of the class"),
        (_Number, r"c: gains failed: TypeError\('found 20.0, expected ModeGains"),
        (_Arrays, r"c: gains failed: TypeError\('found a ModeGains, expected ModeGains of two num"),
        (_Mask, "c: compensates_gravity failed: ValueError"),
        (_Cancelled, "c: on_configure failed: CancelledError"),
        (_OwnParameters, "c: Parameters failed: KeyError"),
    ],
)
def test_an_instance_that_breaks_the_contract_is_refused_with_controller_and_duty(
    robot: RobotFacts, kind: type[Controller], message: str
) -> None:
    document = Document("c.yaml", {"gain": 2.0}, {("gain",): 2})
    with pytest.raises(ConfigError, match=message):
        configured_instance("c", kind, document, robot, HardwareGroup(robot.joints, []))


def test_limits_and_capabilities_of_a_plug_in_are_read_only(robot: RobotFacts) -> None:
    limits = robot.limits
    facts = replace(robot, capabilities=np.zeros((5, 2), dtype=np.int8))
    assert facts.capabilities is not None
    for array in (limits.lower, limits.upper, limits.velocity, limits.effort, facts.capabilities):
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 1
    with pytest.raises(ValueError, match="read-only"):
        robot.of(np.array([1])).limits.effort[:] = 1000.0
