"""Several components of one robot: rows, lifecycle, failing components."""

from __future__ import annotations

from asyncio import CancelledError
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from humanoid_control_common.errors import ConfigError, HardwareError
from humanoid_control_common.robot.joints import FloatArray
from humanoid_control_common.robot.mit_interface import Capability, JointState
from humanoid_control_common.rules.modes import Mode
from humanoid_control_common.rules.safety import SafetyFlag, SafetyLevel, SafetyReport
from humanoid_controller_manager.hardware.generic_system import GenericSystem
from humanoid_controller_manager.hardware.hardware_group import HardwareGroup
from humanoid_controller_manager.hardware.mode_gains import torque_efficiency
from humanoid_controller_manager.hardware_component import JointInfo

PRIME = tuple(f"j{i}" for i in range(14))
SITO = ("j6", "j5", "j13", "j12")  # between the others, and not even in order
EROB = tuple(name for name in PRIME if name not in SITO)


def _prime(rig: Any, scripted_hardware: Any) -> tuple[Any, Any, Any]:
    ring, bus = scripted_hardware(), scripted_hardware()
    robot = rig({"ring": (ring, EROB), "bus": (bus, SITO)}, joints=PRIME)
    return robot, ring, bus


@pytest.fixture
def prime(rig: Any, scripted_hardware: Any) -> tuple[Any, Any, Any]:
    """A robot of 10 + 4 joints whose rows interleave; its components not yet active."""
    return _prime(rig, scripted_hardware)


def _numbers(names: tuple[str, ...]) -> list[float]:
    return [float(name[1:]) / 10.0 for name in names]


def test_states_are_gathered_in_joint_order(prime: Any) -> None:
    robot, ring, bus = prime
    robot.start("damped")
    for component, names in ((ring, EROB), (bus, SITO)):
        component.measured[:] = np.array([_numbers(names)] * 3) * [[1.0], [10.0], [100.0]]
    state = robot.tick().state
    expected = np.array(_numbers(PRIME))
    assert np.allclose(state.array, [expected, 10 * expected, 100 * expected], rtol=0, atol=1e-12)


def test_commands_are_scattered_to_the_components_own_order(prime: Any) -> None:
    robot, ring, bus = prime
    robot.start("damped")
    order = np.array(_numbers(PRIME))

    def mark(state: Any, command: Any, now: float, period: float) -> None:
        command.array[:] = [order, order + 0.01, order + 0.02, order + 0.03, order + 0.04]

    robot.controllers["torque"].behave = mark
    robot.run("torque")
    robot.tick(100)  # targets move within the speed limit of the joints

    offsets = np.array([[0.0], [0.01], [0.02], [0.03], [0.04]])
    assert np.allclose(ring.written[-1], _numbers(EROB) + offsets, rtol=0, atol=1e-12)
    assert np.allclose(bus.written[-1], _numbers(SITO) + offsets, rtol=0, atol=1e-12)


def test_every_joint_gets_the_command_of_the_present_tick(prime: Any) -> None:
    robot, ring, bus = prime
    robot.start("damped")
    order = np.array(_numbers(PRIME))

    def change(state: Any, command: Any, now: float, period: float) -> None:
        command.array.fill(0.0)  # targets without stiffness may jump
        command.array[:3] = order + now

    robot.controllers["torque"].behave = change
    robot.run("torque")
    for _ in range(3):
        robot.tick()
        for component, names in ((ring, EROB), (bus, SITO)):
            expected = [np.array(_numbers(names)) + robot.time] * 3
            assert np.allclose(component.written[-1][:3], expected, rtol=0, atol=1e-12)


def test_the_stiffness_that_acts_lands_in_its_rows(
    rig: Any, confirming_hardware: Any, scripted_hardware: Any
) -> None:
    ring = confirming_hardware()
    components = {"ring": (ring, EROB), "bus": (scripted_hardware(), SITO)}
    robot = rig(components, joints=PRIME).start("damped")
    ring.stiffness = np.array(_numbers(EROB))
    robot.tick()
    found = dict(zip(PRIME, robot.limits.realized_stiffness.tolist(), strict=True))
    assert [found[name] for name in EROB] == _numbers(EROB)
    assert np.isnan([found[name] for name in SITO]).all()


def test_capabilities_and_effort_limits_land_in_their_rows(prime: Any) -> None:
    robot, ring, bus = prime
    robot.start("damped")
    ring.level = Capability.PER_MODE
    robot.group.configure()
    assert robot.group.lacking({"stiffness": Capability.PER_TICK}).endswith(", ".join(EROB))

    bus.limit = lambda position: np.array([1.0, 2.0, 3.0, 4.0])
    limit = np.empty(14)
    robot.group.effort_limit(JointState(14), limit)
    assert limit[[6, 5, 13, 12]].tolist() == [1.0, 2.0, 3.0, 4.0]
    assert limit[list(range(5))].tolist() == [10.0] * 5


def test_an_effort_limit_depends_on_the_position_of_its_own_joint(prime: Any) -> None:
    robot, ring, bus = prime
    robot.start("damped")
    ring.limit = bus.limit = lambda position: 2.0 * position
    state = JointState(14)
    state.position[:] = _numbers(PRIME)
    limit = np.empty(14)
    robot.group.effort_limit(state, limit)
    assert limit.tolist() == [2.0 * number for number in _numbers(PRIME)]


def test_the_torque_efficiency_of_a_drive_lands_in_its_row(prime: Any) -> None:
    robot, _, _ = prime
    members = [
        replace(member, info=replace(member.info, joints=_efficient(member.info.joints)))
        for member in robot.group.members
    ]
    group = HardwareGroup(robot.group.joints, members)
    group.configure()
    assert group.torque_efficiency.tolist() == [0.5 + number / 4 for number in _numbers(PRIME)]


@pytest.mark.parametrize("value", ["0.07", "7", "0", "-0.7"])
def test_a_torque_efficiency_with_a_slip_of_the_decimal_point_is_refused(value: str) -> None:
    with pytest.raises(ConfigError, match=rf"j0: torque_efficiency is {value}, expected 0.3 to 1"):
        torque_efficiency({"torque_efficiency": value}, "j0")


def _efficient(joints: tuple[JointInfo, ...]) -> tuple[JointInfo, ...]:
    """Return joints of which each has its own efficiency."""
    numbers = _numbers(tuple(joint.name for joint in joints))
    return tuple(
        replace(joint, parameters={"torque_efficiency": str(0.5 + number / 4)})
        for joint, number in zip(joints, numbers, strict=True)
    )


def test_the_oldest_measurement_of_all_components_counts(rig: Any, scripted_hardware: Any) -> None:
    """A bus that is fresh hides no other one that has fallen silent."""
    kind = type("Aging", (scripted_hardware,), {"sample_age": property(lambda it: it.age)})
    ring, bus = kind(), kind()
    ring.age = bus.age = 0.0
    robot = rig({"ring": (ring, EROB), "bus": (bus, SITO)}, joints=PRIME).start("damped")
    for ring.age, bus.age in ((0.001, 0.3), (0.3, 0.001)):
        assert robot.group.sample_age == 0.3


def test_gains_of_a_mode_are_compared_kind_by_kind(rig: Any, confirming_hardware: Any) -> None:
    (member,) = rig({"arm": (confirming_hardware(), ("a", "b"))}).group.members
    parameters = {"mode_stiffness": "0 0 20 20 20", "mode_damping": "0 6 2 2 2"}
    info = replace(member.info, parameters=parameters)
    group = HardwareGroup(info.joint_set, [replace(member, info=info)])
    group.configure()
    group.check_gains(Mode.DAMPING, 0.0, 6.0, "here")
    group.check_gains(Mode.STANDBY, 20.0, 2.0, "here")
    for stiffness, damping in ((2.0, 20.0), (20.0, 6.0)):
        with pytest.raises(ConfigError, match=r"gives stiffness 20, damping 2 .* to a, b,"):
            group.check_gains(Mode.STANDBY, stiffness, damping, "here")


@pytest.fixture(params=["one component", "two components"])
def pair(request: Any, rig: Any, scripted_hardware: Any) -> tuple[Any, Any, Any]:
    """A robot, the component that will fail, and the other one (or None)."""
    first = scripted_hardware()
    if request.param == "one component":
        return rig({"first": (first, ("a", "b"))}), first, None
    second = scripted_hardware()
    return rig({"first": (first, ("a", "b")), "second": (second, ("c",))}), first, second


def _others_go_on(other: Any, snapshot: Any, reads: int) -> None:
    if other is None:
        return
    assert other.calls.count("read") == reads
    assert len(other.written) == reads
    assert snapshot.state.position[2] == 0.9
    assert snapshot.reports[1].level is SafetyLevel.OK


def test_a_read_that_raises_is_a_fault_and_its_joints_keep_their_last_state(pair: Any) -> None:
    robot, broken, other = pair
    robot.start("damped")
    robot.tick()
    broken.measured[:] = 7.0  # half a measurement, then the error
    broken.fail["read"] = HardwareError("bus off")
    if other:
        other.measured[0] = 0.9

    snapshot = robot.tick()

    report = snapshot.reports[0]
    assert (report.source, report.level) == ("first", SafetyLevel.FAULT)
    assert report.message == "read failed: bus off"
    assert snapshot.state.array[:, :2].tolist() == [[0.5, 0.5], [0.0, 0.0], [0.0, 0.0]]
    _others_go_on(other, snapshot, 2)


def test_a_component_that_fails_still_gets_every_command(pair: Any) -> None:
    robot, broken, _ = pair
    robot.start("damped")
    broken.fail["read"] = HardwareError("bus off")
    robot.tick(3)
    assert len(broken.written) == 3


def test_a_component_that_recovers_is_well_again(pair: Any) -> None:
    robot, broken, _ = pair
    robot.start("damped")
    broken.fail["read"] = HardwareError("bus off")
    robot.tick()
    broken.fail.clear()
    broken.measured[0] = 0.7
    snapshot = robot.tick()
    assert snapshot.reports[0] == SafetyReport("first")
    assert snapshot.state.position[:2].tolist() == [0.7, 0.7]


@pytest.mark.parametrize("row", [0, 1, 2])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_state_that_is_not_finite_is_a_fault_and_never_used(
    pair: Any, row: int, value: float
) -> None:
    robot, broken, other = pair
    robot.start("damped")
    robot.tick()
    broken.measured[row, 1] = value
    if other:
        other.measured[0] = 0.9

    snapshot = robot.tick()

    assert snapshot.reports[0].level is SafetyLevel.FAULT
    assert np.isfinite(snapshot.state.array).all()
    assert np.isfinite(broken.written[-1]).all()
    _others_go_on(other, snapshot, 2)


def test_a_write_that_raises_is_a_fault(pair: Any) -> None:
    robot, broken, other = pair
    robot.start("damped")
    if other:
        other.measured[0] = 0.9
    robot.tick()
    broken.fail["write"] = HardwareError("queue full")

    snapshot = robot.tick(2)

    report = snapshot.reports[0]
    assert report.level is SafetyLevel.FAULT
    assert "queue full" in report.message
    _others_go_on(other, snapshot, 3)


def test_a_write_that_works_again_ends_the_fault(pair: Any) -> None:
    robot, broken, _ = pair
    robot.start("damped")
    broken.fail["write"] = HardwareError("queue full")
    robot.tick(2)
    broken.fail.clear()
    assert robot.tick(2).reports[0].level is SafetyLevel.OK


def test_a_failing_component_keeps_the_flags_it_observes(pair: Any) -> None:
    robot, broken, _ = pair
    robot.start("damped")
    broken.report = SafetyReport("first", SafetyLevel.WARNING, SafetyFlag.TEMPERATURE_LIMIT, "warm")
    broken.fail["read"] = HardwareError("bus off")
    report = robot.tick().reports[0]
    assert report.level is SafetyLevel.FAULT
    assert SafetyFlag.TEMPERATURE_LIMIT in report.flags


def test_a_fault_of_a_single_tick_is_kept_and_counted(pair: Any) -> None:
    robot, component, _ = pair
    robot.start("damped")

    def report(level: SafetyLevel) -> Any:
        component.report = SafetyReport("first", level, message=level.name)
        return robot.tick().fault

    assert report(SafetyLevel.WARNING) is None
    for number, level in enumerate((SafetyLevel.FAULT, SafetyLevel.CRITICAL), 1):
        report(level)
        fault = report(SafetyLevel.OK)
        assert (fault.number, fault.report.level) == (number, level)


def test_reading_once_more_with_the_same_report_is_no_change(pair: Any) -> None:
    robot, broken, _ = pair
    robot.start("damped")
    broken.report = SafetyReport("first", SafetyLevel.OK)  # equal, another object
    robot.tick()
    assert robot.changes == 0


@pytest.mark.parametrize(
    "limit",
    [np.nan, -5.0, np.inf, 0.0],
    ids=["NaN", "negative", "infinite", "zero"],
)
@pytest.mark.parametrize("mode", ["damped", "torque"])
def test_no_effort_limit_a_component_gives_can_spoil_a_command(
    pair: Any, limit: float, mode: str
) -> None:
    robot, broken, _ = pair
    robot.start("damped")
    robot.controllers["torque"].commanded = 20.0, 2.0
    broken.limit = lambda position: np.array([limit, 10.0])

    robot.run(mode)

    written = broken.written[-1]
    assert np.isfinite(written).all()
    assert np.all(np.abs(written[2]) <= 10.0)
    assert np.all(np.abs(written[0] - 0.5) * written[3] <= 10.0)
    assert np.all(written[2] == 0.0)  # no effort was commanded


def test_a_limit_that_depends_on_the_position_never_uses_an_unmeasured_one(pair: Any) -> None:
    robot, broken, _ = pair
    robot.start("damped")
    seen: list[Any] = []

    def limit(position: Any) -> Any:
        seen.append(position.copy())
        return 10.0 - position

    broken.limit = limit
    robot.tick()
    broken.measured[0, 0] = np.nan
    robot.tick()

    assert np.isfinite(seen).all()
    assert np.isfinite(broken.written[-1]).all()


@pytest.mark.parametrize("method", ["safety", "effort_limit"])
def test_failed_call_of_a_component_leaves_no_component_without_its_command(
    pair: Any, method: str
) -> None:
    robot, broken, other = pair
    robot.start("damped")
    robot.tick()
    broken.fail[method] = RuntimeError("broken")

    snapshot = robot.tick(2)

    assert len(broken.written) == 3
    assert other is None or len(other.written) == 3
    assert snapshot.reports[0].level is SafetyLevel.FAULT


def test_activation_fills_the_state(prime: Any) -> None:
    robot, _, bus = prime
    bus.measured[0] = [0.1, 0.2, 0.3, 0.4]
    position = robot.start().loop.snapshot.state.position
    assert position[[6, 5, 13, 12]].tolist() == [0.1, 0.2, 0.3, 0.4]


def test_activation_is_whole_or_not_at_all(rig: Any, scripted_hardware: Any) -> None:
    first, second, third = scripted_hardware(), scripted_hardware(), scripted_hardware()
    robot = rig({"first": (first, ("a",)), "second": (second, ("b",)), "third": (third, ("c",))})
    second.fail["on_activate"] = HardwareError("second: no answer of slave 3")

    with pytest.raises(HardwareError, match="no answer of slave 3"):
        robot.start()

    assert first.calls[-1] == "on_deactivate"
    assert second.calls[-1] == "on_deactivate"
    assert "on_activate" not in third.calls
    assert "on_deactivate" not in third.calls


@pytest.fixture
def beginning(scripted_hardware: Any) -> Any:
    """A component with something to begin before the first activation."""

    class Beginning(scripted_hardware):  # type: ignore[misc]
        def begin_activation(self) -> None:
            self._called("begin_activation")

    return Beginning()


def test_a_component_that_has_begun_is_left_without_torque_if_another_one_fails(
    rig: Any, scripted_hardware: Any, beginning: Any
) -> None:
    first = scripted_hardware()
    robot = rig({"first": (first, ("a",)), "second": (beginning, ("b",))})
    first.fail["on_activate"] = HardwareError("no answer")
    with pytest.raises(HardwareError, match="no answer"):
        robot.start()
    assert first.calls[-1] == "on_deactivate"
    assert beginning.calls[-2:] == ["begin_activation", "on_deactivate"]


def test_a_beginning_that_fails_names_the_component_and_activates_nothing(
    rig: Any, scripted_hardware: Any, beginning: Any
) -> None:
    other = scripted_hardware()
    robot = rig({"first": (other, ("a",)), "second": (beginning, ("b",))})
    beginning.fail["begin_activation"] = OSError("no thread left")
    with pytest.raises(HardwareError, match=r"second.*no thread left"):
        robot.start()
    assert beginning.calls[-1] == "on_deactivate"
    assert "on_activate" not in other.calls


def test_a_component_that_cannot_end_what_it_began_is_deactivated_once(
    rig: Any, beginning: Any
) -> None:
    robot = rig({"first": (beginning, ("a",))})
    beginning.fail["on_activate"] = HardwareError("no answer")
    with pytest.raises(HardwareError, match="no answer"):
        robot.start()
    assert beginning.calls.count("on_deactivate") == 1


def test_a_failed_activation_names_the_component_whatever_it_raised(pair: Any) -> None:
    robot, broken, _ = pair
    broken.fail["on_activate"] = OSError("no such device")
    with pytest.raises(HardwareError, match=r"first.*no such device"):
        robot.start()


def test_a_failed_activation_also_reports_what_could_not_be_switched_off(
    rig: Any, scripted_hardware: Any
) -> None:
    first, second = scripted_hardware(), scripted_hardware()
    robot = rig({"first": (first, ("a",)), "second": (second, ("b",))})
    first.fail["on_deactivate"] = HardwareError("stuck on")
    second.fail["on_activate"] = HardwareError("no answer")
    with pytest.raises(Exception) as caught:
        robot.start()
    messages = [str(caught.value), *getattr(caught.value, "__notes__", [])]
    messages += [str(error) for error in getattr(caught.value, "exceptions", ())]
    assert "no answer" in " ".join(messages)
    assert "stuck on" in " ".join(messages)


@pytest.fixture
def ordered(rig: Any, scripted_hardware: Any) -> tuple[Any, dict[str, Any], list[str]]:
    """A robot of three components, the last one with a long activation; the deactivated ones."""
    deactivated: list[str] = []

    class Ordered(scripted_hardware):  # type: ignore[misc]
        def on_deactivate(self) -> None:
            deactivated.append(self.name)

    class Beginning(Ordered):
        def begin_activation(self) -> None:
            self._called("begin_activation")

    parts = {"first": Ordered(), "second": Ordered(), "third": Beginning()}
    robot = rig({name: (part, (name[0],)) for name, part in parts.items()})
    return robot, parts, deactivated


def test_components_are_deactivated_in_the_reverse_order_of_their_activation(ordered: Any) -> None:
    robot, _, deactivated = ordered
    robot.start()
    robot.loop.stop()
    assert deactivated == ["third", "second", "first"]


def test_a_failed_activation_is_undone_in_reverse_order(ordered: Any) -> None:
    robot, parts, deactivated = ordered
    parts["second"].fail["on_activate"] = HardwareError("no answer")
    with pytest.raises(HardwareError, match="no answer"):
        robot.start()
    assert deactivated == ["third", "second", "first"]


def test_joints_without_a_measured_state_are_named_and_nothing_stays_active(prime: Any) -> None:
    robot, ring, bus = prime
    bus.measured[0, 1] = np.nan
    ring.measured[2, 0] = np.inf
    with pytest.raises(HardwareError, match=r"j0.*j5"):
        robot.start()
    assert ring.calls[-1] == bus.calls[-1] == "on_deactivate"


def test_a_component_that_cannot_report_its_safety_does_not_stay_active(pair: Any) -> None:
    robot, broken, other = pair
    broken.fail["safety"] = RuntimeError("broken")
    with pytest.raises(Exception, match="broken"):
        robot.start()
    assert broken.calls[-1] == "on_deactivate"
    assert other is None or other.calls[-1] in ("on_configure", "on_deactivate")


def test_deactivation_tries_all_and_names_those_that_failed(
    rig: Any, scripted_hardware: Any
) -> None:
    parts = {name: (scripted_hardware(), (name[0],)) for name in ("first", "second", "third")}
    robot = rig(parts).start()
    for name in ("first", "third"):
        parts[name][0].fail["on_deactivate"] = HardwareError(f"{name} stuck")

    with pytest.raises(ExceptionGroup) as caught:
        robot.loop.stop()

    messages = {str(error) for error in caught.value.exceptions}
    assert messages == {"first: first stuck", "third: third stuck"}
    assert all(component.calls[-1] == "on_deactivate" for component, _ in parts.values())


def test_every_component_is_informed_of_the_loops_end_before_the_first_is_deactivated(
    rig: Any, scripted_hardware: Any
) -> None:
    latest_calls: list[str] = []

    class Minding(scripted_hardware):  # type: ignore[misc]
        def loop_ended(self) -> None:
            latest_calls.append(ring.calls[-1])

    bus, ring = Minding(), scripted_hardware()
    robot = rig({"bus": (bus, ("a",)), "ring": (ring, ("b",))}).start()
    robot.loop.stop()
    assert len(latest_calls) == 1
    assert latest_calls != ["on_deactivate"]
    assert ring.calls[-1] == "on_deactivate"


def test_joints_without_a_watchdog_are_named(rig: Any, scripted_hardware: Any) -> None:
    class Watched(scripted_hardware):  # type: ignore[misc]
        def watchdog_times(self) -> FloatArray:
            return np.array([0.2, np.inf, np.inf])

    robot = rig({"bus": (Watched(), ("a", "b", "c")), "mock": (GenericSystem(), ("d",))})
    assert [member.joints_without_watchdog() for member in robot.group.members] == [["b", "c"], []]


def test_joints_of_a_component_that_does_not_mention_watchdogs_count_as_without(
    rig: Any, scripted_hardware: Any
) -> None:
    robot = rig({"vendor": (scripted_hardware(), ("a", "b"))})
    assert [member.joints_without_watchdog() for member in robot.group.members] == [["a", "b"]]


@pytest.mark.parametrize(
    ("error", "message", "traceback"),
    [
        (KeyError("q"), "read failed: KeyError: 'q'", True),
        (SystemExit(2), "read failed: SystemExit: 2", True),
        (HardwareError("no answer"), "read failed: no answer", False),
    ],
)
def test_a_mistake_of_a_component_is_reported_by_its_type_and_logged_once(
    rig: Any, caplog: Any, error: Any, message: str, traceback: bool
) -> None:
    robot = rig().start("damped")
    robot.arm.fail["read"] = error
    robot.tick(3)
    assert robot.loop.snapshot.reports[0].message == message
    assert caplog.text.count("Traceback") == traceback
    robot.arm.fail["read"] = ZeroDivisionError("another")
    robot.tick(3)
    assert caplog.text.count("Traceback") == traceback + 1


@pytest.mark.parametrize(("stiffness", "refused"), [(90.0, False), (90.1, True)])
def test_gains_of_a_mode_above_the_largest_of_a_joint_are_refused(
    rig: Any, confirming_hardware: Any, stiffness: float, refused: bool
) -> None:
    """The drive takes them from the impedance manager: the limit stage cannot limit them."""
    drive = confirming_hardware()
    (member,) = rig({"arm": (drive, ("a", "b"))}).group.members
    limits = replace(member.info.limits, gains=np.array([[300.0, 90.0], [30.0, 30.0]]))
    parameters = {"mode_stiffness": f"0 0 {stiffness} 20 20", "mode_damping": "0 6 2 2 2"}
    info = replace(member.info, limits=limits, parameters=parameters)
    group = HardwareGroup(info.joint_set, [replace(member, info=info)])
    if not refused:
        group.configure()
        return
    with pytest.raises(ConfigError, match=r"stiffness 90.1 of STANDBY .* b may have 90 at most"):
        group.configure()


def test_a_component_that_cannot_be_configured_is_named_whatever_it_raised(
    rig: Any, scripted_hardware: Any
) -> None:
    broken = scripted_hardware()
    broken.fail["on_configure"] = KeyError("address")
    with pytest.raises(ConfigError, match=r"arm.*: on_configure failed: KeyError\('address'\)"):
        rig({"arm": (broken, ("a", "b"))})


def test_what_is_no_exception_is_a_fault_of_its_component_too(
    rig: Any, scripted_hardware: Any
) -> None:
    arm = scripted_hardware()
    robot = rig({"arm": (arm, ("a", "b"))})
    robot.start("damped")
    arm.fail["read"] = CancelledError()
    report = robot.tick().reports[0]
    assert (report.level, report.message) == (SafetyLevel.FAULT, "read failed: CancelledError")
