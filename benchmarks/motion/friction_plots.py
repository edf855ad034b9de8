"""Draw the effect of friction compensation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from humanoid_control_common.robot.joints import FloatArray
from humanoid_servo_controllers.friction_recording.recording import FrictionSample
from humanoid_servo_controllers.servo.friction_map import FrictionMap

SHOWN: Final = 5.0  # [s] of holding
POINTS: Final = 500  # of a line, approximately


class Plots:
    """Collects measurements and draws them.

    Attributes:
        planted, recorded: friction of the joint, and the map of a recording.
        samples: of that recording.
        tracking: time [s], target and position [rad], (n, 3): without and with the map.
        holding: time [s], effort [Nm] and error [rad], (n, 3): without and with a deadband.
    """

    def __init__(self) -> None:
        self.planted: FrictionMap
        self.recorded: FrictionMap
        self.samples: Sequence[FrictionSample] = ()
        self.tracking: list[FloatArray] = []
        self.holding: list[FloatArray] = []

    def draw(self, path: Path) -> None:
        """Write the picture."""
        import matplotlib as mpl
        from matplotlib.figure import Figure

        mpl.rcParams["svg.hashsalt"] = "friction"  # the same picture, the same file
        figure = Figure(figsize=(12.0, 3.6), layout="constrained")
        record, track, hold = figure.subplots(1, 3)
        self._record(record)
        self._track(track)
        self._hold(hold)
        for axes in (record, track, hold):
            axes.grid(alpha=0.4)
            axes.legend(fontsize="small")
        figure.savefig(path, metadata={"Date": None})

    def _record(self, axes: Any) -> None:
        for sign, name in ((1, "forward"), (-1, "backward")):
            colour = "tab:blue" if sign > 0 else "tab:orange"
            known, found = getattr(self.planted, name), getattr(self.recorded, name)
            own = np.array(
                [(it.position, it.effort) for it in self.samples if it.direction == sign]
            )
            axes.plot(*own.T, ".", color=colour, markersize=3, alpha=0.5)
            axes.plot(known.positions, known.efforts, "--", color="black", linewidth=0.8)
            axes.plot(found.positions, found.efforts, "o-", color=colour, label=name)
        axes.set(
            title="recorded by breakaway; dashed: planted",
            xlabel="position [rad]",
            ylabel="friction [Nm]",
        )

    def _track(self, axes: Any) -> None:
        for trace, label in zip(self.tracking, ("without", "with the map"), strict=True):
            time, target, position = trace[:: max(len(trace) // POINTS, 1)].T
            axes.plot(time, 1e3 * position, label=label)
        axes.plot(time, 1e3 * target, "--", color="black", linewidth=0.8, label="target")
        axes.set(title="tracking", xlabel="time [s]", ylabel="position [mrad]")

    def _hold(self, axes: Any) -> None:
        for trace, label in zip(self.holding, ("without", "with a deadband"), strict=True):
            time, effort, _ = trace.T
            shown = time < time[0] + SHOWN
            axes.plot(time[shown] - time[0], effort[shown], linewidth=0.8, label=label)
        axes.set(title="holding", xlabel="time [s]", ylabel="effort [Nm]")
