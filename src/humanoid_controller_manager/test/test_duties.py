"""Contracts: the duties of a class are found when it is loaded, and mistakes are refused."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from typing import Any

import numpy as np
import pytest

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.joints import JointSet
from humanoid_controller_manager.controller import CONTROLLER_CONTRACT, Controller
from humanoid_controller_manager.hardware.generic_system import GenericSystem
from humanoid_controller_manager.hardware.hardware_group import load_hardware
from humanoid_controller_manager.hardware.urdf import RobotDescription
from humanoid_controller_manager.hardware_component import (
    HARDWARE_CONTRACT,
    HardwareComponent,
    HardwareInfo,
    JointInfo,
)
from humanoid_controller_manager.ros.process.companion import COMPANION_CONTRACT, Companion

REQUIRED = {
    "on_configure", "on_activate", "read", "write", "on_deactivate", "capabilities",
    "effort_limit", "safety",
}  # fmt: skip


Plain: Any = type(
    "Plain", (HardwareComponent,), {name: getattr(GenericSystem, name) for name in REQUIRED}
)


class Confirming(Plain):
    """Has the three duties of confirmation, with its own results."""

    def mode_changed(self, mode: Any, switch_number: int) -> None: ...

    def impedance_confirmed(self) -> bool:
        return False

    def realized_stiffness(self) -> None: ...

    def batches(self) -> int:
        return 0


def _taken_on(kind: Any) -> frozenset[str]:
    return HARDWARE_CONTRACT.taken_on(kind, "arm")


def test_a_component_takes_on_what_its_class_or_a_base_of_it_defines() -> None:
    assert _taken_on(Plain) == REQUIRED
    confirming = {"mode_changed", "impedance_confirmed", "realized_stiffness"}
    assert _taken_on(Confirming) == REQUIRED | confirming


def test_a_value_may_be_a_class_attribute() -> None:
    class Counting(Plain):
        counter_names = ("lost",)

        def bus_counts(self) -> list[int]:
            return [0]

    assert _taken_on(Counting) == REQUIRED | {"counter_names", "bus_counts"}


def _with(**attributes: Any) -> type:
    return type("Arm", (Plain,), attributes)


async def _later(self: Any) -> bool:
    return True


def _nothing(self: Any) -> None: ...


PARTIAL = {name: getattr(Confirming, name) for name in ("mode_changed", "impedance_confirmed")}


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (_with(impedance_confirm=_nothing), "'impedance_confirm', which looks like .*_confirmed'"),
        (_with(reset_fault=_nothing), "has 'reset_fault', which looks like .* 'reset_faults'"),
        (_with(resetFaults=_nothing), "has 'resetFaults', which looks like .* 'reset_faults'"),
        (_with(watchdog_time=_nothing), "has 'watchdog_time', which .* 'watchdog_times'"),
        (_with(loop_end=_nothing), "has 'loop_end', which looks like the duty 'loop_ended'"),
        (_with(sample_ages=0.0), "has 'sample_ages', which looks like the duty 'sample_age'"),
        (_with(**PARTIAL), "impedance_confirmed, mode_changed without realized_stiffness: they"),
        (_with(idle_until=lambda self, deadline: None), "idle_until without tick_correction"),
        (_with(bus_counts=_nothing), "bus_counts without counter_names"),
        (_with(time=0.0), "time without real_time_factor"),
        (_with(read=_nothing), r"'read' that can't be called with \(state, now, period\)"),
        (_with(check_gains=_nothing), "'check_gains' that can't be called with"),
        (_with(reset_faults=_later), "'reset_faults' that is a coroutine"),
        (_with(reset_faults=None), "'reset_faults' that is no method"),
        (_with(reset_faults=property(_nothing)), "'reset_faults' that is no method"),
        (_with(sample_age=_nothing), "'sample_age' that is a method, expected a property"),
        (type("Arm", (HardwareComponent,), {}), r"Arm lacks capabilities, effort_limit, on_act"),
        (
            type("Arm", (), {}),
            "does not derive from .*HardwareComponent",
        ),
        (Plain(), "does not derive from"),
        (len, "does not derive from"),
    ],
)
def test_a_class_that_would_silently_not_do_its_duty_is_refused(kind: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=f"^arm: .*{message}"):
        _taken_on(kind)


@pytest.mark.parametrize("name", ["saturations", "clock", "submit", "lost_exchanges", "resets"])
def test_a_component_may_have_methods_of_its_own(name: str) -> None:
    assert _taken_on(_with(**{name: _nothing})) == REQUIRED


def test_method_whose_name_resembles_a_defined_duty_is_accepted() -> None:
    extended = type("Arm", (Confirming,), {"impedance_confirm": _nothing})
    assert _taken_on(extended) == _taken_on(Confirming)


def test_a_mixin_that_the_defaults_hide_is_refused() -> None:
    class Diagnosing:
        def diagnose(self) -> list[Any]:
            return []

    hidden = type("Arm", (Plain, Diagnosing), {})
    with pytest.raises(ConfigError, match=r"has the 'diagnose' of Diagnosing hidden .* before"):
        _taken_on(hidden)
    assert "diagnose" in _taken_on(type("Arm", (Diagnosing, Plain), {}))


def test_a_duty_in_one_object_only_is_refused_when_it_is_configured(
    rig: Any, scripted_hardware: Any
) -> None:
    arm = scripted_hardware()
    arm.reset_faults = lambda: None
    with pytest.raises(ConfigError, match=r"'arm'>: .*attribute 'reset_faults' hides a duty"):
        rig({"arm": (arm, ("a",))})


def test_a_plugin_that_is_no_component_is_refused_before_it_is_made(
    monkeypatch: pytest.MonkeyPatch, limits_of: Any
) -> None:
    made: list[int] = []

    class Stranger:
        def __init__(self) -> None:
            made.append(1)

    monkeypatch.setattr(EntryPoint, "load", lambda point: Stranger)
    info = HardwareInfo(
        name="arm", plugin="mock_components/GenericSystem", parameters={},
        joints=(JointInfo("a", {}, 0.0),), limits=limits_of(1), update_rate=100.0, urdf="",
    )  # fmt: skip
    description = RobotDescription("r", JointSet(("a",)), limits_of(1), (info,), "")
    with pytest.raises(ConfigError, match=r"<ros2_control name='arm'>: plugin 'mock_components/"):
        load_hardware(description)
    assert made == []


def test_controllers_are_held_to_their_contract() -> None:
    def update(self: Any, state: Any, command: Any, now: float, period: float) -> None: ...

    duties = {"on_configure": lambda s, p, r: None, "on_activate": lambda s, a, b, c: None}
    good = type("Good", (Controller,), {**duties, "update": update, "remark": ""})
    assert CONTROLLER_CONTRACT.taken_on(good, "c") == {*duties, "update", "remark"}
    misspelt = type("Bad", (good,), {"progres": property(_nothing)})
    with pytest.raises(ConfigError, match="has 'progres', which looks like the duty 'progress'"):
        CONTROLLER_CONTRACT.taken_on(misspelt, "c")


def test_a_companion_is_held_to_its_contract() -> None:
    misspelt = type("Bad", (Companion,), {"changed": _nothing, "leads_down": _nothing})
    with pytest.raises(ConfigError, match="has 'leads_down', which looks like the duty 'lead_d"):
        COMPANION_CONTRACT.taken_on(misspelt, "companion")


def test_components_receive_publications_and_their_errors_end_nothing(
    rig: Any, scripted_hardware: Any, caplog: Any
) -> None:
    publications: list[tuple[float, float]] = []

    class Gated(scripted_hardware):  # type: ignore[misc]
        def joint_states_published(self, published: float, measured: float) -> None:
            publications.append((published, measured))

    class Broken(scripted_hardware):  # type: ignore[misc]
        def joint_states_published(self, published: float, measured: float) -> None:
            raise ZeroDivisionError

    robot = rig(
        {"broken": (Broken(), ("a",)), "mock": (scripted_hardware(), ("b",)), "g": (Gated(), "c")}
    ).start()
    robot.heart_time = 7.0
    measured = robot.tick().measured
    for published in (7.5, 8.0):
        robot.group.joint_states_published(published, measured)
    assert publications == [(7.5, 7.0), (8.0, 7.0)]
    assert caplog.text.count("broken: joint_states_published failed") == 1
    assert np.isfinite(robot.tick().state_array).all()
