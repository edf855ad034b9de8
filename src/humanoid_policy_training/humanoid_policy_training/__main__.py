"""`python -m humanoid_policy_training`: trains the reaching policy and writes it."""

from __future__ import annotations

import csv
import time
from collections.abc import Sequence
from dataclasses import astuple, fields
from pathlib import Path
from typing import Annotated

import typer
from matplotlib.figure import Figure

from humanoid_policy_training.arm_network import Parameters
from humanoid_policy_training.onnx_export import write_policy
from humanoid_policy_training.reaching_task import reaching_task
from humanoid_policy_training.training import Score, train


def main(
    output: Annotated[Path, typer.Argument(metavar="FILE", help="The ONNX file to write.")],
    robot: Annotated[str, typer.Option(help="An installed robot with two arms.")] = "prime",
    generations: Annotated[int, typer.Option(min=1, help="How long to train.")] = 600,
    seed: Annotated[int, typer.Option(help="Of the random numbers.")] = 1,
) -> None:
    """Train a policy that tracks reaching motions of both arms.

    It is written after every test, with its training curve beside it (.csv, .svg).
    """
    task = reaching_task(robot)
    scores: list[Score] = []
    began = time.monotonic()

    def tested(score: Score, parameters: Parameters) -> None:
        scores.append(score)
        write_policy(output, task, parameters)
        write_curve(output, scores)
        typer.echo(
            f"generation {score.generation}, {time.monotonic() - began:.0f} s: tracking error "
            f"{score.nominal:.4f} rad as described, {score.random:.4f} rad on random robots"
        )

    train(task, generations, seed, tested)


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


if __name__ == "__main__":
    typer.run(main)
