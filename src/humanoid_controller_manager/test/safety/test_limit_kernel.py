"""The kernel computes the same bits as its oracle in numpy, and refuses wrong arrays."""

from __future__ import annotations

import gc
import importlib.util
import sys
import weakref
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from humanoid_control_common.robot.joints import FloatArray, JointLimits, SoftLimits
from humanoid_control_common.robot.mit_interface import JointCommand, JointState
from humanoid_controller_manager.safety import limit_stage
from humanoid_controller_manager.safety.limit_kernel import LEAST_STIFFNESS, LimitKernel
from humanoid_controller_manager.safety.limit_stage import Limited, LimitStage
from src.humanoid_controller_manager.test.safety import limit_oracle
from src.humanoid_controller_manager.test.safety.limit_oracle import LimitOracle

MOST_JOINTS = 5
PERIODS = st.sampled_from([0.001, 0.01, 0.02, 0.0, 1e3])  # [s]
# Values near, at and beyond the limits below, the largest of a command, and non-finite ones.
SPECIAL = st.sampled_from([0.0, -0.0, 1.0, -1.0, 2.0, 3.0, 5e-324, -1e-310, 1e150, -1e150])
NEAR = st.floats(-4.0, 4.0)
VALUES = st.one_of(SPECIAL, NEAR, st.floats(-50.0, 50.0))
GAINS = st.one_of(st.sampled_from([0.0, 5e-324, 1e150]), st.floats(0.0, 500.0))
POSITIVE = st.one_of(st.floats(0.01, 100.0), st.sampled_from([5e-324, 1e150, np.inf]))
MEASURED = st.one_of(VALUES, st.sampled_from([np.nan, np.inf, -np.inf]))


class Tick(NamedTuple):
    state: FloatArray
    command: FloatArray
    period: float  # [s]
    effort: FloatArray | None  # [Nm] new limit, if there is one
    realized: FloatArray | None  # [Nm/rad] new, if there is any
    restarts: bool


def rows(count: int, elements: st.SearchStrategy[float], size: int = 0) -> Any:
    shape = (size, count) if size else (count,)
    return arrays(np.float64, shape, elements=elements, fill=st.nothing())


@st.composite
def joint_limits(draw: st.DrawFn, count: int) -> JointLimits:
    ends = st.one_of(st.floats(0.01, 4.0), st.sampled_from([1.0, 2.0, np.inf]))
    lower, upper = -draw(rows(count, ends)), draw(rows(count, ends))
    soft = None
    if draw(st.booleans()):
        inner = st.sampled_from([1.0, 0.9, 0.5])
        gain = st.one_of(st.just(0.0), st.floats(0.0, 50.0))
        soft = SoftLimits(
            lower * draw(inner), upper * draw(inner), draw(rows(count, gain)),
            draw(rows(count, gain)),
        )  # fmt: skip
    gains = draw(rows(count, POSITIVE, 2)) if draw(st.booleans()) else None
    return JointLimits(
        lower, upper, draw(rows(count, POSITIVE)), draw(rows(count, POSITIVE)), soft, gains
    )


@st.composite
def ticks(draw: st.DrawFn, count: int) -> Tick:
    effort = st.one_of(VALUES, st.sampled_from([0.0, np.nan, np.inf, -np.inf]))
    realized = st.one_of(st.just(np.nan), GAINS)
    return Tick(
        np.concatenate([draw(rows(count, MEASURED, 2)), np.zeros((1, count))]),
        np.concatenate([draw(rows(count, VALUES, 3)), draw(rows(count, GAINS, 2))]),
        draw(PERIODS),
        draw(st.none() | rows(count, effort)),
        draw(st.none() | rows(count, realized)),
        draw(st.booleans()),
    )


@st.composite
def runs(draw: st.DrawFn) -> tuple[JointLimits, list[Tick]]:
    count = draw(st.integers(1, MOST_JOINTS))
    return draw(joint_limits(count)), draw(st.lists(ticks(count), min_size=1, max_size=5))


def bits(values: FloatArray) -> NDArray[np.uint64]:
    """Return the bits of `values`; those of any NaN are the same."""
    return np.where(np.isnan(values), np.nan, values).view(np.uint64)


def assert_same(limits: JointLimits, sequence: list[Tick]) -> LimitStage:
    stage, oracle = LimitStage(limits), LimitOracle(limits)
    for tick in sequence:
        if tick.restarts:
            stage.restart()
            oracle.restart()
        if tick.effort is not None:
            stage.set_effort_limit(tick.effort)
            oracle.effort = stage.effort_limit.copy()
        if tick.realized is not None:
            stage.set_realized_stiffness(tick.realized)
            oracle.realized = tick.realized
        count = tick.state.shape[1]
        state = JointState(count, tick.state.copy())
        written, expected = JointCommand(count, tick.command.copy()), tick.command.copy()
        stage.apply(state, written, tick.period)
        with np.errstate(all="ignore"):
            oracle.apply(state, JointCommand(count, expected), tick.period)
        assert np.array_equal(bits(written.array), bits(expected))
        assert np.array_equal(stage.counts, oracle.counts)
        assert np.array_equal(bits(state.array), bits(tick.state))
    return stage


HARD = JointLimits(-np.ones(1), np.ones(1), 3.0 * np.ones(1), 10.0 * np.ones(1))
SLOWED = SoftLimits(-np.ones(1), np.ones(1), 10.0 * np.ones(1), np.zeros(1))
BRAKED = SoftLimits(-np.ones(1), np.ones(1), np.zeros(1), 4.0 * np.ones(1))
# One joint: limits, position and velocity, and the command.
CORNERS: dict[str, tuple[JointLimits, tuple[float, float], tuple[float, ...]]] = {
    "torque beyond its bound by rounding": (
        HARD, (0.0, 0.0), (0.0, 1.0, 10.0, 0.0, 10.0 * 0.5e-9)
    ),
    "torque beyond its bound by more": (
        HARD, (0.0, 0.0), (0.0, 1.0, 10.0, 0.0, 10.0 * 1.5e-9)
    ),
    "speed unknown": (HARD, (0.0, np.nan), (0.5, 1.0, 1.0, 10.0, 1.0)),
    "position unknown": (HARD, (np.nan, 0.0), (0.5, 1.0, 1.0, 10.0, 1.0)),
    "nothing but a gain of the position": (
        replace(HARD, soft=SLOWED), (0.5, 2.0), (0.5, 9.0, 9.0, 0.0, 0.0)
    ),
    "nothing but a gain of the velocity": (
        replace(HARD, soft=BRAKED), (0.5, 2.0), (0.5, 1.0, 9.0, 0.0, 0.0)
    ),
    "any velocity": (
        replace(HARD, velocity=np.array([np.inf])), (0.5, 2.0), (0.9, 99.0, 9.0, 30.0, 0.0)
    ),
    "no effort at all": (HARD, (0.5, 0.0), (0.9, 1.0, -0.0, 30.0, 1.0)),
}  # fmt: skip


@pytest.mark.parametrize("corner", CORNERS)
def test_the_kernel_limits_as_its_oracle_does_in_corners(corner: str) -> None:
    limits, measured, command = CORNERS[corner]
    effort = np.zeros(1) if corner == "no effort at all" else None
    tick = Tick(np.array([[*measured, 0.0]]).T, np.array([command]).T, 0.01, effort, None, False)
    assert_same(limits, [tick, tick])


@given(runs())
def test_the_kernel_limits_as_its_oracle_does(run: tuple[JointLimits, list[Tick]]) -> None:
    assert_same(*run)


def test_kernel_equals_the_oracle_over_long_sequences_with_every_kind_of_limit() -> None:
    """Sequences as from a controller: targets move, and most commands are near a bound."""
    random, count, found = np.random.default_rng(1), 14, np.zeros(len(Limited), dtype=np.int64)
    ones = np.ones(count)
    soft = SoftLimits(-0.9 * ones, 1.9 * ones, 10.0 * ones, 4.0 * ones)
    limits = JointLimits(
        -ones, 2.0 * ones, 3.0 * ones, 10.0 * ones, soft, np.array([60.0 * ones, 4.0 * ones])
    )
    for realized in (np.nan, 30.0):
        sequence = []
        position, target = random.uniform(-1.0, 2.0, (2, count))
        for _ in range(500):
            target = target + random.uniform(-0.04, 0.04, count)
            position = position + random.uniform(-0.5, 0.5, count) * (target - position)
            state = np.array([position, random.uniform(-5.0, 5.0, count), 0.0 * ones])
            command = np.array(
                [
                    target,
                    random.uniform(-3.5, 3.5, count),
                    random.uniform(-12.0, 12.0, count),
                    random.uniform(0.0, 70.0, count),
                    random.uniform(0.0, 5.0, count),
                ]
            )
            held = np.where(random.uniform(size=count) < 0.5, realized, np.nan)
            sequence.append(Tick(state, command, 0.01, None, held, False))
        found += assert_same(limits, sequence).counts.sum(axis=1)
    missing = [kind.name for kind in Limited if not found[kind]]
    assert missing == [Limited.SELF_COLLISION.name]  # see test_self_collision.py


def test_stage_and_oracle_have_the_same_least_stiffness() -> None:
    assert LEAST_STIFFNESS == limit_oracle.LEAST_STIFFNESS


# Wrong arrays. N joints, and the right form of each array.

N = 3


def right_arrays() -> dict[str, Any]:
    names = (
        "lower", "upper", "velocity", "effort", "stiffness", "damping", "position_gain",
        "velocity_gain", "realized", "before", "target",
    )  # fmt: skip
    return {name: np.ones(N) for name in names} | {
        "acts": np.zeros(N, dtype=np.bool_),
        "counts": np.zeros((len(Limited), N), dtype=np.int64),
    }


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    view = array.view()
    view.flags.writeable = False
    return view


def unaligned(array: NDArray[Any]) -> memoryview:
    # Not by numpy: its name of the type of such an array differs.
    return memoryview(bytearray(array.nbytes + 1))[1:].cast(array.dtype.char, array.shape)


def strided(array: NDArray[Any]) -> NDArray[Any]:
    return np.repeat(array, 2, axis=-1)[..., ::2]


def swapped(array: NDArray[Any]) -> NDArray[Any]:
    return array.astype(array.dtype.newbyteorder())


Change = Callable[[NDArray[Any]], Any]
ALL_WRONG: dict[str, Change] = {
    "none": lambda _: None,
    "list": lambda array: array.tolist(),
    "bytes": lambda array: array.tobytes(),
    "too short": lambda array: array[..., :-1].copy(),
    "too long": lambda array: np.concatenate([array, array], axis=-1),
    "one dimension more": lambda array: array[np.newaxis].copy(),
    "no dimension": lambda array: np.array(array.flat[0]),
    "float32": lambda array: array.astype(np.float32),
    "complex": lambda array: array.astype(np.complex128),
    "unsigned": lambda array: array.astype(np.uint64),
    "object": lambda array: array.astype(object),
    "strided": strided,
}
WRONG_NUMBERS: dict[str, Change] = {"swapped": swapped, "unaligned": unaligned}
REFUSED = TypeError, ValueError, BufferError


CHANGES = ALL_WRONG | WRONG_NUMBERS
CASES = [
    (name, wrong)
    for name, array in right_arrays().items()
    for wrong in (CHANGES if array.itemsize > 1 else ALL_WRONG)
]


@pytest.mark.parametrize(("name", "wrong"), CASES)
def test_an_array_that_the_kernel_cannot_use_is_refused(name: str, wrong: str) -> None:
    arrays_ = right_arrays()
    arrays_[name] = CHANGES[wrong](arrays_[name])
    with pytest.raises(REFUSED):
        LimitKernel(N, **arrays_)


@pytest.mark.parametrize("name", ["before", "target", "acts", "counts"])
def test_an_array_that_the_kernel_could_not_write_is_refused(name: str) -> None:
    arrays_ = right_arrays()
    arrays_[name] = read_only(arrays_[name])
    with pytest.raises(REFUSED):
        LimitKernel(N, **arrays_)


def test_a_missing_or_unknown_array_and_an_absurd_number_of_joints_are_refused() -> None:
    arrays_: Any = right_arrays()
    for name in arrays_:
        others = {key: value for key, value in arrays_.items() if key != name}
        with pytest.raises(TypeError, match="13 arrays"):
            LimitKernel(N, **others)
        with pytest.raises(TypeError, match=f"no array '{name}'"):
            LimitKernel(N, **others, unknown=np.ones(N))
    for count in (-1, N + 1, 2**31, 2**62, 2**70, "3", None):
        with pytest.raises((*REFUSED, OverflowError)):
            LimitKernel(count, **arrays_)
    with pytest.raises(TypeError):
        LimitKernel(**arrays_)
    with pytest.raises(TypeError):
        LimitKernel(N, N, **arrays_)


@pytest.mark.parametrize("wrong", CHANGES)
@pytest.mark.parametrize("which", ["state", "command"])
def test_a_wrong_state_or_command_is_refused_and_nothing_is_written(which: str, wrong: str) -> None:
    arrays_ = right_arrays()
    kernel, right = (
        LimitKernel(N, **arrays_),
        {"state": np.ones((3, N)), "command": np.ones((5, N))},
    )
    given_ = right | {which: CHANGES[wrong](right[which])}
    for call in (
        lambda: kernel.limit(given_["state"], given_["command"], 0.01),
        lambda: kernel.limit_torque(given_["state"], given_["command"]),
    ):
        with pytest.raises(REFUSED):
            call()
    assert (right["command"] == 1.0).all()
    assert (arrays_["target"] == 1.0).all()


def test_exchanged_rows_and_columns_and_a_row_too_much_are_refused() -> None:
    arrays_ = right_arrays()
    kernel, state, command = LimitKernel(N, **arrays_), np.ones((3, N)), np.ones((5, N))
    for changed in (command.T.copy(), np.ones((6, N)), np.ones((4, N))):
        with pytest.raises(ValueError, match="command"):
            kernel.limit(state, changed, 0.01)
    for changed in (np.ones((4, N)), np.ones((2, N))):
        with pytest.raises(ValueError, match="state"):
            kernel.limit(changed, command, 0.01)
    with pytest.raises(ValueError, match="counts"):
        LimitKernel(N, **(arrays_ | {"counts": arrays_["counts"].T.copy()}))


def test_the_message_has_found_and_expected_value() -> None:
    kernel = LimitKernel(N, **right_arrays())
    with pytest.raises(ValueError, match=r"^command: found 2 dimensions, 160 bytes, type 'd'; exp"):
        kernel.limit(np.ones((3, N)), np.ones((5, 4)), 0.01)
    with pytest.raises(
        ValueError, match=r"2 dimensions, 72 aligned bytes, type 'd': 3 values of ea"
    ):
        kernel.limit(np.ones((3, N), dtype=np.float32), np.ones((5, N)), 0.01)


def test_wrong_calls_are_refused() -> None:
    kernel: Any = LimitKernel(N, **right_arrays())
    state, command = np.ones((3, N)), np.ones((5, N))
    calls: list[Callable[[], object]] = [
        lambda: kernel.limit(state, command),
        lambda: kernel.limit(state, command, 0.01, 0.01),
        lambda: kernel.limit(state, command, "0.01"),
        lambda: kernel.limit_torque(state),
        lambda: kernel.limit_torque(state, command, 0.01),
        lambda: kernel.limit(state, read_only(command), 0.01),
        lambda: kernel.limit(state, command, period=0.01),
        lambda: type("Other", (LimitKernel,), {}),
        lambda: LimitKernel.limit(object(), state, command, 0.01),  # type: ignore[arg-type]
    ]
    for call in calls:
        with pytest.raises((TypeError, ValueError)):
            call()
    assert (command == 1.0).all()


def test_a_read_only_state_is_accepted() -> None:
    LimitKernel(N, **right_arrays()).limit(read_only(np.ones((3, N))), np.ones((5, N)), 0.01)


def test_the_kernel_keeps_its_arrays_alive_and_releases_them_with_itself() -> None:
    class Array(np.ndarray[Any, Any]):
        """An array that can have a weak reference."""

    arrays_ = {name: array.view(Array) for name, array in right_arrays().items()}
    watched = [weakref.ref(array) for array in arrays_.values()]
    kernel = LimitKernel(N, **arrays_)
    del arrays_
    gc.collect()
    kernel.limit(np.ones((3, N)), np.ones((5, N)), 0.01)
    assert not [array for array in watched if array() is None]
    del kernel
    gc.collect()
    assert not [array for array in watched if array() is not None]


def test_no_reference_is_lost_or_kept_by_a_call() -> None:
    arrays_ = right_arrays()
    kernel, state, command = LimitKernel(N, **arrays_), np.ones((3, N)), np.ones((5, N))
    wrong = np.ones((5, N + 1))
    held = [*arrays_.values(), state, command, wrong]
    before = [sys.getrefcount(it) for it in held]
    for _ in range(100):
        kernel.limit(state, command, 0.01)
        kernel.limit_torque(state, command)
        with pytest.raises(ValueError, match="command"):
            kernel.limit(state, wrong, 0.01)
        with pytest.raises(ValueError, match="counts"):
            LimitKernel(N, **(arrays_ | {"counts": wrong}))
    assert [sys.getrefcount(it) for it in held] == before


def test_a_missing_kernel_is_reported_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "humanoid_controller_manager.safety.limit_kernel", None)
    assert limit_stage.__file__
    spec = importlib.util.spec_from_file_location("again", limit_stage.__file__)
    assert spec
    assert spec.loader
    with pytest.raises(ImportError, match="run `make build`"):
        spec.loader.exec_module(importlib.util.module_from_spec(spec))
