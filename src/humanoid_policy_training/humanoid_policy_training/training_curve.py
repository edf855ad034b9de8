"""The training curve: a table, and a picture of it."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import astuple, fields
from pathlib import Path

from matplotlib.figure import Figure

from humanoid_policy_training.training import Score


def write_curve(path: Path, scores: Sequence[Score]) -> None:
    """Write `scores` to `path` with the suffixes .csv and .svg. Raises OSError."""
    with path.with_suffix(".csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(field.name for field in fields(Score))
        for score in scores:
            generation, *errors = astuple(score)
            writer.writerow([generation, *(f"{error:.5f}" for error in errors)])
    figure = Figure(figsize=(7.0, 3.5), layout="constrained")
    axes = figure.add_subplot()
    generations = [score.generation for score in scores]
    for errors, label in (
        ([score.random for score in scores], "random payload, friction, strength, latency"),
        ([score.nominal for score in scores], "as described"),
    ):
        axes.plot(generations, errors, label=label)
    axes.set(xlabel="generation", ylabel="tracking error, RMS [rad]", ylim=(0.0, None))
    axes.grid(visible=True)
    axes.legend()
    figure.savefig(path.with_suffix(".svg"), metadata={"Date": None})
