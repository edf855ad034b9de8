"""`python -m humanoid_policy_training`: trains the reaching policy and writes it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from humanoid_policy_training.arm_network import Parameters
from humanoid_policy_training.onnx_export import write_policy
from humanoid_policy_training.reaching_task import reaching_task
from humanoid_policy_training.training import Score, train
from humanoid_policy_training.training_curve import write_curve


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


if __name__ == "__main__":
    typer.run(main)
