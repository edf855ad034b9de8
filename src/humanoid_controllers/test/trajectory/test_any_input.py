"""Any input is followed or refused: no other error is raised, and no joint exceeds a limit."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from humanoid_motion.errors import MotionRefusedError
from humanoid_motion.trajectory.points import Point

floats = st.one_of(
    st.floats(-2.0, 2.0),
    st.floats(),
    st.sampled_from([0.0, 1e-300, 1e-12, 1e-6, 1e6, 1e18, 1e300, -1e300]),
)
names = st.sampled_from(["joint_0", "joint_1", "joint_2", "knee", ""])
values = st.lists(floats, max_size=4)
points = st.builds(Point, floats, values, values, values)
asked = st.one_of(
    st.tuples(st.just("follow"), st.lists(names, max_size=4), st.lists(points, max_size=4), floats),
    st.tuples(st.just("move"), st.dictionaries(names, floats, max_size=3), floats, floats),
    st.tuples(st.just("jog"), st.dictionaries(names, floats, max_size=3)),
    st.tuples(st.just("cancel")),
)


def _ask(bench: Any, what: str, *arguments: Any) -> None:
    planner, now = bench.planner, bench.now
    if what == "follow":
        names, points, begin = arguments
        planner.follow(names, points, now, None if begin == 0.0 else now + begin)
    elif what == "move":
        planner.move(arguments[0], now, *arguments[1:])
    elif what == "jog":
        planner.jog(arguments[0], now)
    else:
        planner.cancel()


@given(asked=st.lists(st.tuples(asked, st.integers(0, 40)), max_size=6))
def test_any_request_is_followed_or_refused(make_bench: Any, asked: Any) -> None:
    bench = make_bench()
    for (what, *arguments), ticks in asked:
        try:
            _ask(bench, what, *arguments)
        except MotionRefusedError as refusal:
            assert str(refusal)
        bench.tick(ticks)
    bench.run(0.5)
    assert np.isfinite(bench.positions).all()
    bench.refuse_steps()


@given(
    times=st.lists(floats, min_size=1, max_size=4),
    rows=st.lists(st.lists(floats, min_size=3, max_size=3), min_size=4, max_size=4),
    kinds=st.integers(1, 3),
)
def test_any_numbers_in_a_whole_trajectory_are_followed_or_refused(
    make_bench: Any, times: list[float], rows: list[list[float]], kinds: int
) -> None:
    bench = make_bench()
    given = [Point(time, *([row] * kinds)) for time, row in zip(sorted(times), rows, strict=False)]
    given[-1] = given[-1]._replace(velocities=[0.0] * 3 if kinds > 1 else [])
    try:
        bench.planner.follow(["joint_0", "joint_1", "joint_2"], given, bench.now)
    except MotionRefusedError as refusal:
        assert str(refusal)
    bench.run(0.5)
    bench.refuse_steps()
