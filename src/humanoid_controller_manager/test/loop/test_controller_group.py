"""Controllers side by side in one mode, in a loop that only the test ticks."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from humanoid_control_common.errors import ConfigError, ControllerError
from humanoid_control_common.robot.mit_interface import Capability, JointCommand, JointState
from humanoid_control_common.rules.modes import Mode
from humanoid_controller_manager.controller import ModeGains, Progress
from humanoid_controller_manager.loop.mode_controllers import (
    ClaimedJoints,
    ControllerSlot,
    group_name,
)
from humanoid_controller_manager.loop.snapshot import Phase, Snapshot
from humanoid_controller_manager.safety.limit_stage import HeldBack

JOINTS = ("a", "b", "c", "d", "e")
HELD = ModeGains(15.0, 1.5)
POSE = [0.1, 0.2, 0.3, 0.4, 0.5]


class Bench:
    """A rig whose REMOTE is shared: `left` claims d and a, `right` b; c and e are held."""

    def __init__(self, rig: Any, hardware: Any, claims: dict[str, Sequence[str]] | None = None):
        self.arm = hardware()
        self.rig = rig({"arm": (self.arm, JOINTS)})
        self.arm.measured[0] = POSE
        self.rig.group.hold_gains = HELD
        self.controllers: dict[str, Any] = {}
        self.slots: dict[str, ControllerSlot] = {
            name: ControllerSlot(name, controller)
            for name, controller in self.rig.controllers.items()
            if name != "remote"
        }
        for name, joints in (claims or {"left": "da", "right": "b"}).items():
            self.add(name, joints)
        self.exchange()

    def add(self, name: str, joints: Sequence[str], **changes: Any) -> Any:
        kind = type(self.rig.controllers["standby"])
        controller = kind(changes.pop("mode", Mode.REMOTE), {}, 7.0, 0.7)
        claimed = ClaimedJoints(self.rig.group.joints.indices(joints))
        self.controllers[name] = controller
        self.slots[name] = ControllerSlot(name, controller, claimed=claimed, **changes)
        return controller

    def exchange(self) -> None:
        self.rig.loop.exchange_slots(self.slots)

    def start(self, *names: str) -> Snapshot:
        """Bring the group of `names` into force."""
        self.rig.start("damped")
        return self.switch(*names)

    def switch(self, *names: str) -> Snapshot:
        snapshot: Snapshot = self.rig.run(group_name(names or self.controllers))
        return snapshot


@pytest.fixture
def bench(rig: Any, scripted_hardware: Any) -> Bench:
    return Bench(rig, scripted_hardware)


def goes_to(*position: float) -> Any:
    def behave(state: JointState, command: JointCommand, now: float, period: float) -> None:
        command.position[:] = position
        command.stiffness[:] = 7.0

    return behave


def test_each_controller_reads_and_commands_its_own_joints_and_the_others_are_held(
    bench: Bench,
) -> None:
    bench.rig.start("damped")
    bench.rig.tick()
    snapshot = bench.switch("left", "right")
    ((state, command, _),) = bench.controllers["left"].activations
    assert state[0].tolist() == [0.4, 0.1]
    assert command[4].tolist() == [6.0, 6.0]  # what was in force: damping
    assert bench.controllers["right"].activations[0][0][0].tolist() == [0.2]
    assert snapshot.command.position.tolist() == POSE
    assert snapshot.command.stiffness.tolist() == [7.0, 7.0, 15.0, 7.0, 15.0]
    assert snapshot.command.damping.tolist() == [0.7, 0.7, 1.5, 0.7, 1.5]
    assert snapshot.controllers == ("left", "right")
    assert (snapshot.controller, snapshot.mode) == ("left+right", Mode.REMOTE)


def test_held_joints_stay_at_the_pose_of_the_start_wherever_they_are_moved(bench: Bench) -> None:
    bench.start()
    bench.arm.measured[0] += 0.02
    command = bench.rig.tick().command
    assert command.position.tolist() == pytest.approx([0.12, 0.22, 0.3, 0.42, 0.5])


def test_a_member_gets_its_own_command_back_and_cannot_write_to_the_state(bench: Bench) -> None:
    seen: list[Any] = []

    def behave(state: JointState, command: JointCommand, now: float, period: float) -> None:
        seen.append(command.position.tolist())
        assert not state.array.flags.writeable
        command.position += [0.01, 0.02]

    bench.controllers["left"].behave = behave
    bench.start()
    command = bench.rig.tick(2).command
    assert np.array(seen) == pytest.approx(np.array([[0.0, 0.0], [0.01, 0.02], [0.02, 0.04]]))
    assert command.position[3] == pytest.approx(0.03)


@given(
    owners=st.text("xyz-", min_size=5, max_size=5).filter(lambda it: it != "-----"),
    order=st.permutations(range(5)),
    seed=st.integers(0, 2**32 - 1),
)
@settings(max_examples=40, deadline=None)
def test_the_composed_command_is_each_members_on_its_joints_and_the_hold_elsewhere(
    rig: Any, scripted_hardware: Any, owners: str, order: list[int], seed: int
) -> None:
    rows = {name: [row for row in order if owners[row] == name] for name in set(owners) - {"-"}}
    claims = {name: [JOINTS[row] for row in rows[name]] for name in rows}
    bench = Bench(rig, scripted_hardware, claims)
    composed = np.zeros((5, 5))
    composed[0], composed[3:] = POSE, np.array([HELD]).T
    for name, own in rows.items():
        values = np.random.default_rng(seed).uniform(0.0, 9.0, (5, len(own)))
        composed[:, own] = values
        bench.controllers[name].behave = lambda state, command, now, period, values=values: (
            np.copyto(command.array, values)
        )
    bench.start()
    before_limits = bench.rig.loop._active._candidate.array
    assert before_limits.tolist() == composed.tolist()


def _raises(bench: Bench) -> str:
    bench.controllers["right"].fail["update"] = ControllerError("broke")
    return "right failed: broke"


def _calls_exit(bench: Bench) -> str:
    bench.controllers["right"].fail["update"] = SystemExit(3)
    return "right failed: SystemExit: 3"


def _raises_its_progress(bench: Bench) -> str:
    bench.controllers["right"].fraction = ControllerError("lost count")
    return "right failed: lost count"


def _not_finite(bench: Bench) -> str:
    bench.controllers["left"].behave = goes_to(0.0, np.nan)
    return "left gave an invalid command for a"


def _negative_gain(bench: Bench) -> str:
    bench.controllers["right"].commanded = -1.0, 0.0
    return "right gave an invalid command for b"


def _late(bench: Bench) -> str:
    def behave(state: JointState, command: JointCommand, now: float, period: float) -> None:
        bench.rig.time += 0.012

    bench.controllers["left"].behave = behave
    return "left took 12.0 ms (at most 10.0 ms)"


def _late_together(bench: Bench) -> str:
    def behave(state: JointState, command: JointCommand, now: float, period: float) -> None:
        bench.rig.time += 0.006 + 0.001 * len(state.position)

    for controller in bench.controllers.values():
        controller.behave = behave
    return "left+right took 15.0 ms (at most 10.0 ms), most of it left: 8.0 ms"


@pytest.mark.parametrize(
    "fails",
    [
        _raises, _calls_exit, _raises_its_progress, _not_finite, _negative_gain, _late,
        _late_together,
    ],
)  # fmt: skip
def test_failing_member_ends_the_mode_in_the_same_tick_and_is_named(
    bench: Bench, fails: Any
) -> None:
    bench.start()
    reason = fails(bench)
    snapshot = bench.rig.tick()
    assert (snapshot.controller, snapshot.fall.reason.text) == ("damped", reason)
    assert snapshot.command.stiffness.tolist() == [0.0] * 5
    assert snapshot.command.damping.tolist() == [6.0] * 5
    for controller in bench.controllers.values():
        assert controller.calls[-1] == "on_deactivate"
        assert controller.calls.count("on_deactivate") == 1
    assert snapshot.members == ()


def test_member_that_cannot_start_leaves_the_previous_controller_in_charge(bench: Bench) -> None:
    bench.controllers["right"].fail["on_activate"] = ControllerError("no sensor")
    bench.rig.start("damped")
    ticket = bench.rig.ask("left+right")
    snapshot = bench.rig.tick()
    assert (snapshot.refusal.ticket, snapshot.refusal.reason.text) == (ticket, "right: no sensor")
    assert snapshot.controller == "damped"
    assert bench.controllers["left"].calls == ["on_activate", "on_deactivate"]
    assert bench.controllers["right"].calls == ["on_activate"]


def test_start_of_each_member_is_checked_with_its_joints_before_the_mode_changes(
    rig: Any, confirming_hardware: Any
) -> None:
    bench = Bench(rig, confirming_hardware)
    asked: dict[str, list[float]] = {}

    def check(name: str) -> Any:
        def check_start(state: JointState, now: float) -> None:
            asked[name] = state.position.tolist()
            if name == "right":
                raise ControllerError("no sensor")

        return check_start

    for name, controller in bench.controllers.items():
        controller.check_start = check(name)
    bench.rig.start("damped")
    bench.rig.ask("left+right")
    snapshot = bench.rig.tick(2)
    assert asked == {"left": [0.4, 0.1], "right": [0.2]}
    assert snapshot.refusal.reason.text == "right: no sensor"
    assert (snapshot.controller, snapshot.fall) == ("damped", None)


def test_members_start_in_order_and_end_in_reverse(bench: Bench) -> None:
    calls: list[tuple[str, str]] = []
    for name, controller in bench.controllers.items():
        controller._called = lambda method, name=name: calls.append((name, method))
    bench.start()
    bench.switch("damped")
    assert [it for it in calls if it[1] != "update"] == [
        ("left", "on_activate"), ("right", "on_activate"),
        ("right", "on_deactivate"), ("left", "on_deactivate"),
    ]  # fmt: skip


# Replacing one of them.


def _moving(step: float) -> Any:
    """A member whose target moves by `step` in each tick, from the first measured position."""

    def behave(state: JointState, command: JointCommand, now: float, period: float) -> None:
        if not command.position.any():
            command.position[:] = state.position
        command.position += step
        command.stiffness[:] = 7.0

    return behave


def test_replacement_of_a_member_causes_no_step_of_the_other(bench: Bench) -> None:
    bench.controllers["left"].behave = _moving(0.002)
    bench.add("other", "bc")
    bench.exchange()
    before = bench.start("left", "right")
    bench.arm.measured[0] += 0.05
    bench.rig.tick(4)
    after = bench.switch("left", "other")
    more = bench.rig.tick()
    own = [bench.rig.group.joints.names.index(joint) for joint in "da"]
    ticks = np.array([it.command.position[own] for it in (before, after, more)])
    assert np.diff(ticks, axis=0).tolist() == [
        pytest.approx([0.01, 0.01]),
        pytest.approx([0.002, 0.002]),
    ]
    assert bench.controllers["left"].calls.count("on_activate") == 1
    assert "on_deactivate" not in bench.controllers["left"].calls
    assert bench.controllers["right"].calls[-1] == "on_deactivate"
    assert bench.controllers["other"].activations[0][0][0].tolist() == pytest.approx([0.25, 0.35])
    assert after.switch_number == before.switch_number  # no drive gets other gains
    assert after.controllers == ("left", "other")
    assert after.command.position[4] == 0.5  # held from the beginning
    assert after.fall is None


def test_joints_of_a_member_that_leaves_are_held_where_they_are(bench: Bench) -> None:
    bench.start()
    bench.arm.measured[0] += 0.02
    snapshot = bench.switch("left")
    assert snapshot.command.position.tolist() == pytest.approx([0.12, 0.22, 0.3, 0.42, 0.5])
    assert snapshot.command.stiffness.tolist() == [7.0, 15.0, 15.0, 7.0, 15.0]
    assert bench.controllers["right"].calls[-1] == "on_deactivate"


def test_member_that_joins_takes_over_its_joints_from_the_hold(bench: Bench) -> None:
    bench.start("left")
    snapshot = bench.switch("left", "right")
    assert snapshot.command.stiffness.tolist() == [7.0, 7.0, 15.0, 7.0, 15.0]
    ((_, command, _),) = bench.controllers["right"].activations
    assert command[:, 0].tolist() == [0.2, 0.0, 0.0, 15.0, 1.5]


def test_member_that_cannot_join_leaves_the_group_unchanged(bench: Bench) -> None:
    new, failing = bench.add("new", "b"), bench.add("failing", "c")
    failing.fail["on_activate"] = ControllerError("no sensor")
    bench.exchange()
    bench.start("left", "right")
    bench.rig.ask("left+new+failing")
    snapshot = bench.rig.tick()
    assert snapshot.refusal.reason.text == "failing: no sensor"
    assert (snapshot.controller, snapshot.fall) == ("left+right", None)
    assert new.calls == ["on_activate", "on_deactivate"]
    assert "on_deactivate" not in bench.controllers["right"].calls


def test_start_of_a_member_that_joins_is_checked(bench: Bench) -> None:
    bench.controllers["right"].fail["check_start"] = ControllerError("no sensor")
    bench.start("left")
    bench.rig.ask("left+right")
    snapshot = bench.rig.tick()
    assert snapshot.refusal.reason.text == "right: no sensor"
    assert (snapshot.controller, snapshot.fall) == ("left", None)
    assert bench.controllers["right"].calls == []


def test_member_that_joins_again_begins_with_a_zero_command(bench: Bench) -> None:
    bench.controllers["right"].behave = _moving(0.002)
    bench.start("left", "right")
    bench.rig.tick(5)
    bench.switch("left")
    bench.arm.measured[0, 1] = 0.21
    assert bench.switch("left", "right").command.position[1] == pytest.approx(0.212)


def test_member_that_joins_is_not_told_of_a_command_before_its_own(bench: Bench) -> None:
    told: list[str] = []
    bench.start("left")
    for name, controller in bench.controllers.items():
        controller.on_held_back = lambda target, why, name=name: told.append(name)
    for expected in (["left"], ["left", "right"]):
        told.clear()
        bench.rig.loop._active.held_back = HeldBack(np.array(POSE), "links too near")
        bench.rig.ask("left+right")
        bench.rig.tick()
        assert told == expected


def test_change_of_group_without_a_common_member_is_a_switch(bench: Bench) -> None:
    number = bench.start("left").switch_number
    snapshot = bench.switch("right")
    assert snapshot.switch_number == number + 1
    assert bench.controllers["left"].calls[-1] == "on_deactivate"


# Refusals.


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"joints": "ba"}, "'left' and 'other' can't be in charge together: both claim a"),
        (
            {"joints": "c", "mode": Mode.STANDBY},
            "'left' and 'other' can't be in charge together: they are of REMOTE and STANDBY",
        ),
        (
            {"joints": "c", "fallbacks": ("limp",)},
            "'left' and 'other' can't be in charge together: make their fallback_controllers equal",
        ),
    ],
)
def test_members_that_cannot_be_in_charge_together_are_refused_with_both_named(
    bench: Bench, other: dict[str, Any], message: str
) -> None:
    bench.add("other", **other)
    bench.slots = {it: bench.slots[it] for it in bench.slots if it != "right"}
    bench.rig.loop._active._slots = bench.slots
    assert bench.rig.loop.refusal_of("left+other").text == message
    bench.start("left")
    bench.rig.ask("left+other")
    assert bench.rig.tick().refusal.reason.text == message


def test_controller_with_all_joints_is_refused_in_a_group(bench: Bench) -> None:
    message = bench.rig.loop.refusal_of("left+damped").text
    assert message.endswith("they are of REMOTE and DAMPING")
    bench.slots["whole"] = ControllerSlot("whole", bench.rig.controllers["remote"])
    bench.exchange()
    assert bench.rig.loop.refusal_of("left+whole").text.endswith("'whole' claims all joints")


def test_an_unknown_member_is_refused(bench: Bench) -> None:
    assert bench.rig.loop.refusal_of("left+ghost").text.startswith(
        "unknown controller 'ghost'; known:"
    )


def test_members_of_one_mode_with_different_fallbacks_are_refused_when_they_come(
    bench: Bench,
) -> None:
    before = bench.rig.loop.refusal_of("left+right").text
    bench.add("third", "c", fallbacks=("limp",))
    with pytest.raises(
        ConfigError, match=r"'left' and 'third' .*: make their fallback_controllers"
    ):
        bench.exchange()
    assert bench.rig.loop.refusal_of("left+right").text == before == ""
    assert "unknown controller 'third'" in bench.rig.loop.refusal_of("third").text


def test_each_need_is_checked_on_the_members_joints_only(bench: Bench) -> None:
    bench.controllers["left"].needs = {"effort": Capability.PER_TICK}
    effort = bench.rig.group.capabilities[2]
    effort[1] = Capability.NEVER  # `right` claims b
    assert bench.rig.loop.refusal_of("left+right").text == ""
    effort[0] = Capability.NEVER
    assert bench.rig.loop.refusal_of("left+right").text == "left: effort per_tick not offered by a"


def test_joints_that_cannot_be_held_are_refused(bench: Bench) -> None:
    bench.rig.group.capabilities[3, :3] = Capability.NEVER
    assert bench.rig.loop.refusal_of("left+right").text == (
        "joints that no controller claims: stiffness per_mode not offered by c"
    )


def test_a_group_waits_for_the_impedance_like_any_stiff_controller(
    rig: Any, confirming_hardware: Any
) -> None:
    bench = Bench(rig, lambda: confirming_hardware(confirmed=False))
    bench.rig.start("damped")
    snapshot = bench.switch("left", "right")
    assert snapshot.phase is Phase.PREPARING
    assert snapshot.controllers == ("left", "right")
    assert bench.controllers["left"].calls == []
    bench.arm.confirmed = True
    snapshot = bench.rig.tick()
    assert snapshot.phase is Phase.RUNNING
    assert bench.controllers["right"].calls == ["on_activate", "update"]


def test_group_requested_during_preparing_starts_after_the_confirmation(
    rig: Any, confirming_hardware: Any
) -> None:
    bench = Bench(rig, lambda: confirming_hardware(confirmed=False))
    bench.rig.start("damped")
    bench.switch("left", "right")
    assert bench.switch("left").phase is Phase.PREPARING
    bench.arm.confirmed = True
    bench.rig.tick()
    assert bench.controllers["left"].calls == ["on_activate", "update"]
    assert bench.controllers["right"].calls == []


def test_start_of_a_member_is_checked_during_preparing_too(
    rig: Any, confirming_hardware: Any
) -> None:
    bench = Bench(rig, lambda: confirming_hardware(confirmed=False))
    bench.controllers["right"].fail["check_start"] = ControllerError("no sensor")
    bench.start("left")
    bench.rig.ask("left+right")
    snapshot = bench.rig.tick()
    assert (snapshot.controller, snapshot.phase) == ("left", Phase.PREPARING)
    assert snapshot.refusal.reason.text == "right: no sensor"


# Gains of held joints.


def test_held_joints_have_the_gains_of_the_mode_where_the_hardware_gives_them(
    rig: Any, scripted_hardware: Any
) -> None:
    bench = Bench(rig, scripted_hardware)
    bench.rig.group.mode_gains[Mode.REMOTE, :, 2] = 20.0, 2.0
    command = bench.start().command
    assert (command.stiffness[2], command.damping[2]) == (20.0, 2.0)
    assert (command.stiffness[4], command.damping[4]) == HELD


def test_joints_without_known_gains_are_named_when_the_controllers_come(bench: Bench) -> None:
    bench.rig.group.hold_gains = None
    with pytest.raises(
        ConfigError,
        match="no controller of REMOTE claims c, e: controller_manager needs hold_stiffness and",
    ):
        bench.exchange()
    bench.add("third", "ec")
    bench.exchange()  # no joint is left to be held
    assert bench.start().command.stiffness.tolist() == [7.0] * 5


def test_gains_that_the_hardware_refuses_are_refused_for_held_joints(bench: Bench) -> None:
    def check_gains(stiffness: float, damping: float, where: str) -> None:
        raise ConfigError(f"{where}: stiffness {stiffness:g}")

    bench.arm.check_gains = check_gains
    with pytest.raises(
        ConfigError, match=r"^controller_manager: hold_stiffness and hold_damping: stiffness 15$"
    ):
        bench.exchange()


# Progress and remarks.


def test_a_group_is_finished_when_all_members_are(bench: Bench) -> None:
    left, right = bench.controllers["left"], bench.controllers["right"]
    left.fraction, right.fraction = 1.0, 0.25
    snapshot = bench.start()
    assert snapshot.progress == Progress(0, 1, 0.25)
    assert [it.progress.finished for it in snapshot.members] == [True, False]
    right.fraction = 1.0
    assert bench.rig.tick().progress.finished


def test_group_with_a_member_without_progress_is_never_finished(bench: Bench, rig: Any) -> None:
    kind = type(bench.rig.controllers["damped"])
    claimed = bench.slots["right"].claimed
    bench.slots["right"] = ControllerSlot("right", kind(Mode.REMOTE, {}, 1.0, 0.1), claimed=claimed)
    bench.exchange()
    bench.controllers["left"].fraction = 1.0
    snapshot = bench.start()
    assert snapshot.progress is None
    assert snapshot.members[0].progress.finished


def test_remarks_are_those_of_the_members_by_name(bench: Bench) -> None:
    bench.controllers["right"].remarks = "no command"
    assert bench.start().remark == "right: no command"
    bench.controllers["left"].remarks = "slow"
    assert bench.rig.tick().remark == "left: slow; right: no command"


def test_a_member_gets_a_tick_as_its_own(bench: Bench) -> None:
    bench.controllers["left"].fraction = 0.5
    snapshot = bench.start()
    own = snapshot.of_member("left", bench.slots["left"].claimed.rows)
    assert (own.controller, own.progress, own.members) == ("left", Progress(0, 1, 0.5), ())
    assert own.state.position.tolist() == [0.4, 0.1]
    assert own.command.position.tolist() == [0.4, 0.1]
    away = bench.switch("damped").of_member("left", bench.slots["left"].claimed.rows)
    assert away.controller == "damped"


def test_member_that_made_its_array_read_only_can_begin_again(bench: Bench) -> None:
    """Also beside a member that continues."""
    bench.start()

    def behave(state: JointState, command: JointCommand, now: float, period: float) -> None:
        command.array.flags.writeable = False

    bench.controllers["left"].behave = behave
    bench.rig.tick()
    bench.controllers["left"].behave = None
    bench.switch("right")
    snapshot = bench.switch("left", "right")
    assert (snapshot.controller, snapshot.fall) == ("left+right", None)
