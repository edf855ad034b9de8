"""Recordings of every millisecond."""

from dataclasses import dataclass

import numpy as np
import pytest

from humanoid_twin.errors import TwinError
from humanoid_twin.physics.recorder import Recorder, RecorderCommands, load_recording

NAMES = ("swing", "level")


def test_a_recording_holds_each_step_until_it_is_full(arms):
    recorder = Recorder(arms, NAMES)
    recorder.stepped(1)  # not started yet
    recorder.start(3)
    for step in range(1, 6):
        arms.torque[1] = float(step)
        arms.step(0.001)
        recorder.stepped(step * 1_000_000)
    found = recorder.recording()
    assert found.names == NAMES
    assert found.time.tolist() == [0.001, 0.002, 0.003]
    assert found.torque[:, 1].tolist() == [1.0, 2.0, 3.0]
    assert found.velocity[0, 1] == pytest.approx(1.0 / 0.06 * 0.001)
    assert found.position.shape == (3, 2)
    assert np.isnan(found.stiffness).all()


def test_recorder_stores_the_stiffness_of_known_drives(arms):
    @dataclass
    class Drive:
        stiffness: float

        def spring(self) -> tuple[float, float]:
            return self.stiffness, 0.1 * self.stiffness

    first, second = Drive(20.0), Drive(0.0)
    recorder = Recorder(arms, NAMES, [first, second])
    recorder.start(2)
    recorder.stepped(1)
    first.stiffness = 5.0
    recorder.stepped(2)
    found = recorder.recording()
    assert found.stiffness.tolist() == [[20.0, 0.0], [5.0, 0.0]]
    assert found.pull.tolist() == [[2.0, 0.0], [0.5, 0.0]]


def test_a_recording_comes_back_from_its_file_as_it_was(arms, two_arms_urdf, tmp_path):
    recorder = Recorder(arms, NAMES)
    commands = RecorderCommands(recorder)
    commands.record(0.01)
    arms.step(0.001)
    recorder.stepped(1_000_000)
    assert commands.recorded(str(tmp_path / "a.npz")) == 1
    found, expected = load_recording(tmp_path / "a.npz"), recorder.recording()
    assert found.names == NAMES
    for name in ("time", "position", "velocity", "torque", "stiffness", "pull"):
        assert np.array_equal(getattr(found, name), getattr(expected, name), equal_nan=True)


def test_a_recording_that_cannot_be_is_refused(arms, two_arms_urdf, tmp_path):
    commands = RecorderCommands(Recorder(arms, NAMES))
    for seconds in (-1.0, float("nan"), 1e9):
        with pytest.raises(TwinError, match="can't record"):
            commands.record(seconds)
    with pytest.raises(TwinError, match="No such file"):
        commands.recorded(str(tmp_path / "none" / "a.npz"))
