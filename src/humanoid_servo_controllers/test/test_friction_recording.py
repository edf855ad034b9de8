"""A recording finds the planted friction, and stops on an error."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_support.friction_joint import FrictionJoint, bounds, planted, recorded_joint

from humanoid_control_common.errors import ConfigError
from humanoid_servo_controllers.friction_recording.breakaway import BreakawayRecording
from humanoid_servo_controllers.friction_recording.controller import COMMAND_TIMEOUT
from humanoid_servo_controllers.friction_recording.maps import (
    friction_map,
    interpolated_bins,
    recorded_range,
    residuals,
)
from humanoid_servo_controllers.friction_recording.recording import (
    Bounds,
    FrictionSample,
    Recording,
    RecordingError,
    Sample,
)
from humanoid_servo_controllers.friction_recording.samples_file import load_samples, save_samples
from humanoid_servo_controllers.friction_recording.sweep import SweepRecording
from humanoid_servo_controllers.servo.friction_map import FrictionCurve, FrictionMap

LOWER, UPPER, POINTS = -0.1, 0.1, 2


def recorded(joint: FrictionJoint, recording: Recording) -> FrictionMap:
    joint.record(recording)
    return friction_map(recording.samples, LOWER, UPPER, POINTS)


def assert_planted(found: FrictionMap) -> None:
    """The error is within 5 %."""
    known = planted()
    for curve, friction in ((found.forward, known.forward), (found.backward, known.backward)):
        expected = np.interp(curve.positions, friction.positions, friction.efforts)
        np.testing.assert_allclose(curve.efforts, expected, rtol=0.05)


def test_breakaway_finds_the_friction_at_rest() -> None:
    """The joint has a Stribeck part and gravity."""
    joint = recorded_joint("breakaway", stribeck=True)
    assert_planted(recorded(joint, BreakawayRecording(bounds(LOWER, UPPER, passes=2))))


def test_a_sweep_finds_the_friction_in_motion() -> None:
    """The joint has gravity."""
    joint = recorded_joint("sweep")
    assert_planted(recorded(joint, SweepRecording(bounds(LOWER, UPPER))))


def test_the_range_is_passed_in_both_directions_from_wherever_the_joint_is() -> None:
    """At its stop the joint is driven inwards."""
    for start, lower in ((0.5, 0.42), (-0.5, -0.45)):
        joint = recorded_joint("sweep", start)
        recording = SweepRecording(bounds(lower, lower + 0.03))
        places = np.array(joint.record(recording))
        assert np.abs(places).max() < 0.501
        inside = places[np.argmax((places >= lower) & (places <= lower + 0.03)) :]
        assert inside.min() > lower - 0.01
        assert inside.max() < lower + 0.04
        assert {it.direction for it in recording.samples} == {1, -1}


@pytest.mark.parametrize("kind", [BreakawayRecording, SweepRecording])
def test_a_joint_that_never_moves_is_given_up(kind: type[Recording]) -> None:
    joint = recorded_joint("breakaway" if kind is BreakawayRecording else "sweep")
    joint.plant.set_brake(0, engaged=True)
    efforts: list[float] = []
    recording = kind(bounds())
    with pytest.raises(RecordingError, match="a stop or an obstacle is there"):
        while True:
            efforts.append(joint.tick(recording.step(joint.sample())))
    assert joint.now < 15.0
    assert max(efforts) < 2.1
    assert not recording.samples


def test_a_sweep_gives_up_after_ten_seconds_without_motion() -> None:
    """The same if the effort stays below its limit."""
    recording = SweepRecording(bounds())
    with pytest.raises(RecordingError, match=r"0\.50 Nm for 10 s"):
        for tick in range(1500):
            recording.step(Sample(0.01 * tick, 0.0, 0.0, 0.5, 0.0))


@pytest.mark.parametrize("kind", [BreakawayRecording, SweepRecording])
def test_push_of_the_joint_ends_the_recording(kind: type[Recording]) -> None:
    joint = recorded_joint("breakaway" if kind is BreakawayRecording else "sweep")
    recording = kind(bounds())

    def push(_: Recording) -> None:
        if joint.now > 3.0:
            joint.plant.set_external_torque(0, -4.0)

    with pytest.raises(RecordingError, match=r"pushes it|rad/s at|expected at most 2"):
        joint.record(recording, watch=push)
    assert joint.now < 4.0
    assert joint.plant.position[0] > -0.3


def test_gravity_is_no_friction_of_a_sweep() -> None:
    recording = SweepRecording(bounds(LOWER, UPPER))
    position, now, velocity = 0.0, 0.0, 0.0
    while not recording.done:
        effort = 1.5 + 0.6 * np.sign(velocity)
        velocity = recording.step(Sample(now, position, velocity, effort, 1.5))
        position += 0.01 * velocity
        now += 0.01
    assert recording.samples
    for it in recording.samples:
        assert it.effort == pytest.approx(0.6 * it.direction)


def test_a_joint_that_slides_back_ends_a_sweep() -> None:
    recording = SweepRecording(bounds())
    direction = np.sign(recording.step(Sample(0.0, 0.0, 0.0, 0.0, 0.0)))
    recording.step(Sample(0.01, -0.029 * direction, 0.0, 0.0, 0.0))
    with pytest.raises(RecordingError, match="something pushes it"):
        recording.step(Sample(0.02, -0.031 * direction, 0.0, 0.0, 0.0))


def test_a_joint_that_gives_way_to_the_other_side_ends_a_breakaway() -> None:
    recording = BreakawayRecording(bounds())
    now, effort = 0.0, 0.0
    while effort == 0.0:  # at rest
        effort = recording.step(Sample(now, 0.0, 0.0, 0.0, 0.0))
        now += 0.01
    recording.step(Sample(now, -0.019 * np.sign(effort), 0.0, effort, 0.0))
    with pytest.raises(RecordingError, match="while it is driven"):
        recording.step(Sample(now, -0.021 * np.sign(effort), 0.0, effort, 0.0))


def test_a_joint_that_trembles_ends_a_breakaway() -> None:
    recording = BreakawayRecording(bounds())
    with pytest.raises(RecordingError, match=r"does not come to rest .* 5\.0 s"):
        for i in range(1000):
            recording.step(Sample(0.01 * i, 0.003 * (i % 2), 0.0, 0.0, 0.0))


def test_drift_of_a_joint_without_friction_ends_the_recording() -> None:
    joint = recorded_joint("breakaway", friction=False)
    joint.plant.set_external_torque(0, 0.02)
    with pytest.raises(RecordingError, match="does not come to rest"):
        joint.record(BreakawayRecording(bounds()))


def test_a_joint_that_slides_back_from_every_push_ends_a_breakaway() -> None:
    recording = BreakawayRecording(bounds())
    effort = 0.0
    with pytest.raises(RecordingError, match=r"slides back to 0\.000 rad from every push"):
        for tick in range(10_000):
            position = 0.03 if abs(effort) > 0.3 else 0.0
            effort = recording.step(Sample(0.01 * tick, position, 0.0, effort, 0.0))


@pytest.mark.parametrize(
    ("sample", "words"),
    [
        (Sample(0.01, 0.0, 1.6, 0.0, 0.0), r"moves at 1.60 rad/s at 0.000 rad, expected at most 1"),
        (Sample(0.01, 0.53, 0.0, 0.0, 0.0), r"beyond its limits at 0.530 rad"),
    ],
)
@pytest.mark.parametrize("kind", [BreakawayRecording, SweepRecording])
def test_sample_beyond_speed_or_limits_ends_the_recording_at_once(
    kind: type[Recording], sample: Sample, words: str
) -> None:
    recording = kind(bounds())
    recording.step(Sample(0.0, 0.0, 0.0, 0.0, 0.0))
    with pytest.raises(RecordingError, match=words):
        recording.step(sample)


@pytest.mark.parametrize("key", ["position", "velocity", "effort", "gravity"])
@pytest.mark.parametrize("kind", [BreakawayRecording, SweepRecording])
def test_sample_without_a_measurement_ends_the_recording_at_once(
    kind: type[Recording], key: str
) -> None:
    recording = kind(bounds())
    recording.step(Sample(0.0, 0.0, 0.0, 0.0, 0.0))
    sample = replace(Sample(0.01, 0.0, 0.0, 0.0, 0.0), **{key: float("nan")})
    with pytest.raises(RecordingError, match=f"the {key} of the joint is nan"):
        recording.step(sample)
    assert not recording.done


@pytest.mark.parametrize("method", ["breakaway", "sweep"])
def test_a_recorder_that_is_killed_leaves_no_effort_behind(method) -> None:
    joint = recorded_joint(method)
    joint.plant.set_brake(0, engaged=True)
    for _ in range(100):
        effort = joint.tick(0.4)
    assert effort > 0.3
    for _ in range(round(COMMAND_TIMEOUT * 200) + 2):
        effort = joint.tick(None)
    assert abs(effort) < 0.001


def cloud(direction: int, *pairs: tuple[float, float]) -> list[FrictionSample]:
    return [FrictionSample(direction, *pair) for pair in pairs]


@pytest.mark.parametrize("jump", [-3600.0, -0.1, 0.6, 7.5, np.nan])
@pytest.mark.parametrize("kind", [BreakawayRecording, SweepRecording])
def test_a_clock_that_is_set_ends_the_recording_before_the_effort_jumps(
    kind: type[Recording], jump: float
) -> None:
    """Set back by an hour, the ramp of the effort led to 2000 Nm in the other direction."""
    recording = kind(bounds())
    for tick in range(80):  # into the first ramp
        recording.step(Sample(0.01 * tick, 0.0, 0.0, 0.0, 0.0))
    with pytest.raises(RecordingError, match="or the clock was set"):
        recording.step(Sample(0.8 + jump, 0.0, 0.0, 0.0, 0.0))


def test_bins_with_few_samples_are_interpolated_and_wrong_signs_become_none() -> None:
    forward = [(x, effort) for x, effort in ((0.1, 1.0), (0.5, 9.0), (0.9, 2.0)) for _ in range(3)]
    forward = [it for it in forward if it[1] != 9.0] + [(0.5, 9.0)] * 2
    backward = [(0.1, 0.2)] * 3 + [(0.9, -1.0)] * 2 + [(0.9, -50.0)] * 1 + [(0.8, -1.5)] * 2
    found = friction_map(cloud(1, *forward) + cloud(-1, *backward), 0.0, 1.0, 3)
    np.testing.assert_allclose(found.forward.positions, [1 / 6, 0.5, 5 / 6], atol=1e-6)
    np.testing.assert_allclose(found.forward.efforts, [1.0, 1.5, 2.0])
    np.testing.assert_allclose(found.backward.efforts, [0.0, -0.65, -1.5])
    assert interpolated_bins(cloud(1, *forward) + cloud(-1, *backward), 0.0, 1.0, 3) == 2


def test_the_friction_on_the_way_to_the_range_is_not_that_of_its_end() -> None:
    """The joint begins 1.5 rad below the range, where its friction is five times as large."""
    recording = SweepRecording(Bounds(0.0, 0.5, -2.0, 2.0, max_effort=4.0, max_speed=1.0))
    position, now, effort = -1.5, 0.0, 0.0
    while not recording.done:
        velocity = recording.step(Sample(now, position, 0.0, effort, 0.0))
        effort = np.sign(velocity) * (0.2 if position >= 0.0 else 1.0)
        position += 0.02 * velocity
        now += 0.02
    found = friction_map(recording.samples, 0.0, 0.5, 5)
    assert found.forward.efforts == pytest.approx(0.2)
    assert found.backward.efforts == pytest.approx(-0.2)


def test_the_recorded_range_is_read_from_a_map() -> None:
    samples = [*cloud(1, *[(0.1, 1.0)] * 3), *cloud(-1, *[(0.1, -1.0)] * 3)]
    for points in (2, 7):
        found = friction_map(samples, -0.4, 1.2, points)
        assert recorded_range(found) == pytest.approx((-0.4, 1.2), abs=1e-5)


def test_too_few_samples_are_no_map() -> None:
    with pytest.raises(RecordingError, match="2 samples backwards, expected 3 in one of 4 bins"):
        friction_map(cloud(1, *[(0.1, 1.0)] * 3) + cloud(-1, (0.1, -1.0), (0.1, -1.0)), 0.0, 1.0, 4)


def test_residuals_are_per_direction() -> None:
    where = np.array([0.25, 0.75])
    known = FrictionMap(
        FrictionCurve(where, np.array([1.0, 1.0]), 1),
        FrictionCurve(where, np.array([-1.0, -2.0]), -1),
    )
    samples = cloud(1, *[(0.25, 1.1)] * 3, *[(0.75, 0.8)] * 3) + cloud(-1, *[(0.75, -2.0)] * 3)
    forward, backward = residuals(samples, known, 0.0, 1.0, 2)
    assert (forward.direction, forward.bins, backward.bins) == (1, 2, 1)
    assert (forward.mean, forward.largest) == pytest.approx((0.15, 0.2))
    assert forward.friction == pytest.approx(0.95)
    assert (backward.mean, backward.largest) == (0.0, 0.0)


samples_of_a_joint = st.lists(
    st.builds(
        FrictionSample,
        st.sampled_from([1, -1]),
        st.integers(-3000, 3000).map(lambda it: it / 1000),
        st.integers(-9000, 9000).map(lambda it: it / 1000),
    ),
    min_size=1,
)


@settings(max_examples=20)
@given(st.dictionaries(st.sampled_from(["wrist", "elbow, left"]), samples_of_a_joint))
def test_samples_are_read_as_they_were_written(tmp_path_factory, samples) -> None:
    path = tmp_path_factory.mktemp("samples") / "friction.csv"
    save_samples(path, samples)
    assert load_samples(path) == samples


HEAD = b"joint,direction,position [rad],effort [Nm]\n"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"joint,direction\n", ":1: expected the columns joint, direction, position"),
        (HEAD + b"wrist,1,x,0\n", ":2: could not convert"),
        (HEAD + b"wrist,1,0.1\n", ":2: not enough values"),
        (HEAD + b"wrist,7,0.1,0\n", ":2: direction 7, expected 1 or -1"),
        (HEAD + b"wrist,1,nan,0\n", ":2: nan rad, 0.0 Nm, expected finite numbers"),
        (HEAD + b"wrist,1,0.1,inf\n", ":2: 0.1 rad, inf Nm, expected finite numbers"),
        (b"\xff\xfe", "friction.csv: is no table: "),
        pytest.param(HEAD + b"w" * 200_000, "is no table: field larger than", id="a long field"),
    ],
)
def test_a_wrong_table_is_refused_by_its_line(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "friction.csv"
    path.write_bytes(content)
    with pytest.raises(ConfigError) as refused:
        load_samples(path)
    assert words in str(refused.value)


def test_more_passes_cover_the_range_more_often() -> None:
    def legs(passes: int) -> int:
        found = BreakawayRecording(replace(bounds(), passes=passes))
        found.path.begin(0.0)
        return len(found.path.legs)

    assert [legs(1), legs(2), legs(3)] == [3, 5, 7]


def test_a_range_of_which_the_joint_is_at_the_end_needs_no_first_leg() -> None:
    path = SweepRecording(Bounds(0.0, 1.0, -2.0, 2.0, 1.0, 1.0)).path
    path.begin(1.0)
    assert [leg[0] for leg in path.legs] == [-1, 1]
    path.begin(-0.5)
    assert [leg[0] for leg in path.legs] == [1, -1]
