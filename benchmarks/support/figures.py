"""Figures with median and p99, as a table or as JSON."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

Samples = Sequence[float] | NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured quantity. The last two are None unless tails matter."""

    median: float
    p99: float
    unit: str
    p99_9: float | None = None
    max: float | None = None

    def as_dict(self) -> dict[str, float | str]:
        """Return the known values by name; always `median`, `p99` and `unit`."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if value is not None}


def durations(calls: Iterable[Callable[[], object]]) -> list[float]:
    """Call each of `calls`; return the durations [s]."""
    samples = []
    for call in calls:
        begin = time.perf_counter()
        call()
        samples.append(time.perf_counter() - begin)
    return samples


def figure(samples: Samples, unit: str, scale: float = 1.0, *, tail: bool = False) -> Figure:
    """Return median and p99 of `samples` times `scale`; with `tail` p99.9 and maximum too."""
    values = np.asarray(samples, dtype=float) * scale
    if not values.size:
        raise ValueError("a figure needs at least one sample")
    median, p99, p99_9, largest = np.percentile(values, [50, 99, 99.9, 100]).tolist()
    return Figure(median, p99, unit, p99_9, largest) if tail else Figure(median, p99, unit)


def single(value: float, unit: str) -> Figure:
    """Return a quantity measured once: median and p99 are equal."""
    return Figure(value, value, unit)


def ratio(ours: Figure, other: Figure) -> Figure:
    """Return the ratios `ours` to `other` of the medians and of the 99th percentiles."""
    return Figure(ours.median / other.median, ours.p99 / other.p99, "x")


def arguments(description: str | None) -> argparse.ArgumentParser:
    """Return a parser with the options of every benchmark."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument(
        "--quick", action="store_true", help="test the benchmark itself: figures of a few samples"
    )
    return parser


def report(title: str, figures: Mapping[str, Figure], as_json: bool) -> None:
    """Print the figures, as a table or as JSON."""
    if as_json:
        json.dump({name: value.as_dict() for name, value in figures.items()}, sys.stdout, indent=2)
        sys.stdout.write("\n")
        return
    tails = any(value.max is not None for value in figures.values())
    table = Table(title=title, title_justify="left")
    table.add_column("figure")
    for column in ("median", "p99", *(("p99.9", "max") if tails else ())):
        table.add_column(column, justify="right")
    table.add_column("")
    for name, value in figures.items():
        numbers = (value.median, value.p99, *((value.p99_9, value.max) if tails else ()))
        table.add_row(name, *map(_cell, numbers), value.unit)
    Console(width=110).print(table)


def note(text: str) -> None:
    """Write a remark to stderr."""
    sys.stderr.write(f"{text}\n")


def _cell(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"
