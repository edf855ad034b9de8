"""The plan of a switch: rules of ros2_control, and rules of this stack for the mode controller."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_control_common.errors import SwitchRefusedError
from humanoid_controller_manager.services.switch_plan import Candidate, Plan, Selection, plan_switch
from humanoid_controller_manager.switching.registry import State

CLAIM = ("elbow/position",)
NAMES = ("limp", "damped", "standby", "raw", "states", "mute", "ghost")


def _shown(in_charge: str = "damped") -> dict[str, Candidate]:
    shown = {name: Candidate(State.INACTIVE, CLAIM) for name in ("limp", "damped", "standby")}
    shown[in_charge] = Candidate(State.ACTIVE, CLAIM)
    shown["raw"] = Candidate(State.UNCONFIGURED, CLAIM)
    shown["states"] = Candidate(State.ACTIVE)
    shown["mute"] = Candidate(State.INACTIVE)
    return shown


def _plan(
    activate: Sequence[str] = (),
    deactivate: Sequence[str] = (),
    *,
    strict: bool = True,
    in_charge: str = "damped",
    successor: str = "limp",
) -> Plan:
    return plan_switch(Selection(activate, deactivate, strict), _shown(in_charge), successor)


def _refusal(**switch: object) -> str:
    with pytest.raises(SwitchRefusedError) as caught:
        _plan(**switch)  # type: ignore[arg-type]
    return str(caught.value)


def test_activated_controller_takes_over_from_the_deactivated_one() -> None:
    plan = _plan(["standby"], ["damped"])
    assert (plan.take_over, plan.follows) == (("standby",), False)


def test_take_over_requires_the_deactivation_of_the_controller_in_charge() -> None:
    assert _refusal(activate=["standby"]) == (
        "Unable to activate controller 'standby' since the command interface 'elbow/position' "
        "is currently claimed by another controller: 'damped'."
    )
    assert _refusal(activate=["standby"], strict=False) == _refusal(activate=["standby"])


def test_two_cannot_take_over_at_once() -> None:
    assert _refusal(activate=["standby", "limp"], deactivate=["damped"]) == (
        "Unable to activate controller 'limp' since the command interface 'elbow/position' "
        "will be used by another controller that is being activated: 'standby'."
    )


def test_deactivated_controller_is_followed_by_the_next_safe_controller() -> None:
    plan = _plan(deactivate=["standby"], in_charge="standby", successor="damped")
    assert (plan.take_over, plan.follows) == (("damped",), True)


def test_the_last_of_the_safe_controllers_stays() -> None:
    for strict in (True, False):
        text = _refusal(deactivate=["limp"], in_charge="limp", successor="", strict=strict)
        assert "last of the safe controllers" in text


def test_controller_in_charge_is_never_restarted() -> None:
    for strict in (True, False):
        text = _refusal(activate=["damped"], deactivate=["damped"], strict=strict)
        assert text == "Controller with name 'damped' can not be restarted while it is in charge."


def test_broadcasters_are_switched_without_the_controller_in_charge() -> None:
    plan = _plan(["mute"], ["states"])
    assert (plan.take_over, plan.activate, plan.deactivate) == ((), ("mute",), ("states",))


@pytest.mark.parametrize(
    ("switch", "message"),
    [
        (
            {"activate": ["ghost"]},
            "Could not activate controller with name 'ghost' because no controller with this "
            "name exists",
        ),
        (
            {"deactivate": ["ghost"]},
            "Could not deactivate controller with name 'ghost' because no controller with this "
            "name exists",
        ),
        (
            {"activate": ["raw"], "deactivate": ["damped"]},
            "Controller with name 'raw' is in 'unconfigured' state. The controller needs to be "
            "configured to be in 'inactive' state before it can be checked and activated.",
        ),
        ({"activate": ["damped"]}, "Controller with name 'damped' is already active."),
        (
            {"deactivate": ["standby"]},
            "Controller with name 'standby' can not be deactivated since it is not active.",
        ),
    ],
    ids=["ghost on", "ghost off", "unconfigured", "active", "not active"],
)
def test_strict_refuses_what_cannot_be_done_with_upstreams_text(
    switch: dict[str, list[str]], message: str
) -> None:
    assert _refusal(**switch) == message


def test_best_effort_leaves_out_what_cannot_be_done_and_gives_the_reason() -> None:
    plan = _plan(["mute", "ghost", "raw"], ["standby", "states"], strict=False)
    assert (plan.activate, plan.deactivate, plan.take_over) == (("mute",), ("states",), ())
    assert len(plan.left_out) == 3


def test_best_effort_with_only_unknown_names_is_refused() -> None:
    assert "no controller with this name" in _refusal(activate=["ghost"], strict=False)


def test_empty_request_gives_an_empty_plan() -> None:
    assert _plan() == Plan((), False, (), (), ())


SIDES = {
    "left": Candidate(State.ACTIVE, ("a/position",), "REMOTE"),
    "right": Candidate(State.ACTIVE, ("b/position",), "REMOTE"),
    "spare": Candidate(State.INACTIVE, ("b/effort", "b/position"), "REMOTE"),
    "wide": Candidate(State.INACTIVE, ("a/position", "b/position"), "REMOTE"),
    "third": Candidate(State.INACTIVE, ("c/position",), "REMOTE"),
    "walker": Candidate(State.INACTIVE, ("c/position",), "LOCOMOTION"),
}


@pytest.mark.parametrize(
    ("activate", "deactivate", "in_charge"),
    [
        (["spare"], ["right"], ("left", "spare")),
        (["third"], [], ("left", "right", "third")),
        ([], ["right"], ("left",)),
        (["wide"], ["left", "right"], ("wide",)),
        (["spare", "third"], ["right"], ("left", "spare", "third")),
        (["walker"], ["left", "right"], ("walker",)),
    ],
)
def test_controllers_side_by_side_are_exchanged_one_by_one(
    activate: list[str], deactivate: list[str], in_charge: tuple[str, ...]
) -> None:
    plan = plan_switch(Selection(activate, deactivate, True), SIDES, "damped")
    assert (plan.take_over, plan.follows) == (in_charge, False)


@pytest.mark.parametrize("strict", [True, False])
def test_a_controller_of_another_mode_replaces_all_if_the_request_deactivates_none(
    strict: bool,
) -> None:
    plan = plan_switch(Selection(["walker"], [], strict), SIDES, "damped")
    assert plan == Plan(("walker",), False, ("walker",), ("left", "right"), ())


def test_deactivated_last_member_is_followed_by_the_next_safe_controller() -> None:
    plan = plan_switch(Selection([], ["left", "right"], True), SIDES, "damped")
    assert (plan.take_over, plan.follows) == (("damped",), True)


@pytest.mark.parametrize(
    ("activate", "deactivate", "message"),
    [
        (
            ["spare"],
            [],
            "Unable to activate controller 'spare' since the command interface 'b/position' is "
            "currently claimed by another controller: 'right'.",
        ),
        (
            ["spare", "wide"],
            ["left", "right"],
            "Unable to activate controller 'wide' since the command interface 'b/position' will be "
            "used by another controller that is being activated: 'spare'.",
        ),
        (
            ["walker"],
            ["right"],
            "Unable to activate controller 'walker' of LOCOMOTION beside 'left' of REMOTE: one "
            "mode is in force at a time.",
        ),
    ],
)
def test_two_that_claim_one_joint_are_refused_with_both_named(
    activate: list[str], deactivate: list[str], message: str
) -> None:
    for strict in (True, False):
        with pytest.raises(SwitchRefusedError) as caught:
            plan_switch(Selection(activate, deactivate, strict), SIDES, "damped")
        assert str(caught.value) == message


@given(
    activate=st.lists(st.sampled_from(NAMES), max_size=4),
    deactivate=st.lists(st.sampled_from(NAMES), max_size=4),
    strict=st.booleans(),
    in_charge=st.sampled_from(("limp", "damped", "standby")),
)
def test_exactly_one_controller_is_in_charge_after_any_request(
    activate: list[str], deactivate: list[str], strict: bool, in_charge: str
) -> None:
    successor = {"standby": "damped", "damped": "limp", "limp": ""}[in_charge]
    try:
        plan = _plan(activate, deactivate, strict=strict, in_charge=in_charge, successor=successor)
    except SwitchRefusedError:
        return
    if not plan.take_over:
        assert in_charge not in plan.deactivate
        return
    assert in_charge in plan.deactivate  # a request must name each controller that it replaces
    (name,) = plan.take_over
    assert name in (activate if not plan.follows else [successor])
    assert name != in_charge
