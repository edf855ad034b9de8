"""Draw friction maps, by matplotlib where that is installed."""

from importlib import import_module
from pathlib import Path
from typing import Any, Final

import numpy as np

from humanoid_control_common.errors import ConfigError, RobotError
from humanoid_servo_controllers.friction_file import load_friction_maps
from humanoid_servo_controllers.friction_recording.recording import (
    FrictionSample,
    direction_in_words,
)
from humanoid_servo_controllers.friction_recording.samples_file import load_samples, samples_path
from humanoid_servo_controllers.servo.friction_map import FrictionMap

SUFFIXES: Final = (".svg", ".png")
COLOURS: Final = {1: "tab:blue", -1: "tab:orange"}


def plot(file: Path, target: Path) -> None:
    """Draw the maps of `file`, and the samples beside it, into `target`.

    Raises ConfigError for a wrong file or suffix, and for a target that is `file` or its samples;
    RobotError without matplotlib.
    """
    if target.suffix not in SUFFIXES:
        raise ConfigError(f"{target}: expected a name that ends with {' or '.join(SUFFIXES)}")
    table = samples_path(file)
    for source in (file, table):
        if target.exists() and source.exists() and target.samefile(source):
            raise ConfigError(f"{target}: it has the friction to draw: name the picture by --into")
    content = load_friction_maps(file)
    samples = load_samples(table) if table.exists() else {}
    figure = _figure(figsize=(5.0 * len(content.maps), 5.5), layout="constrained")
    axes = figure.subplots(2, len(content.maps), squeeze=False, sharex="col", height_ratios=(3, 1))
    for column, (joint, found) in enumerate(content.maps.items()):
        upper, lower = axes[:, column]
        _draw_map(upper, found)
        for direction, curve in ((1, found.forward), (-1, found.backward)):
            own = [it for it in samples.get(joint, ()) if it.direction == direction]
            _draw_samples(upper, lower, own, curve.positions, curve.efforts)
        upper.set(title=f"{joint}, {content.method}, {content.recorded}", ylabel="friction [Nm]")
        upper.legend()
        lower.set(xlabel="position [rad]", ylabel="residual [Nm]" if samples else "no samples")
        for it in (upper, lower):
            it.axhline(0.0, color="black", linewidth=0.5)
            it.grid(visible=True, alpha=0.4)
    try:
        # Without a date and random names the same map gives the same file.
        figure.savefig(target, metadata={"Date": None} if target.suffix == ".svg" else None)
    except OSError as error:
        raise ConfigError(f"{target}: cannot be written: {error.strerror}") from error


def _figure(**options: Any) -> Any:
    """Return an empty figure. Raises RobotError without matplotlib."""
    try:
        # No dependency of the package: a robot's computer draws nothing.
        matplotlib, figure = import_module("matplotlib"), import_module("matplotlib.figure")
    except ModuleNotFoundError as error:
        raise RobotError(
            "plots need matplotlib: python -m pip install matplotlib (Debian: python3-matplotlib)"
        ) from error
    matplotlib.rcParams["svg.hashsalt"] = "friction"
    return figure.Figure(**options)


def _draw_map(axes: Any, found: FrictionMap) -> None:
    for direction, curve in ((1, found.forward), (-1, found.backward)):
        axes.plot(
            curve.positions,
            curve.efforts,
            marker="o",
            color=COLOURS[direction],
            label=direction_in_words(direction),
        )


def _draw_samples(
    upper: Any, lower: Any, samples: list[FrictionSample], positions: Any, efforts: Any
) -> None:
    if not samples:
        return
    colour = COLOURS[samples[0].direction]
    where = np.array([it.position for it in samples])
    found = np.array([it.effort for it in samples])
    upper.plot(where, found, ".", markersize=3, alpha=0.5, color=colour)
    residual = found - np.interp(where, positions, efforts)
    lower.plot(where, residual, ".", markersize=3, color=colour)
