"""What every benchmark shares: figures with median and p99, a table, and JSON."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from rich.console import Console
from rich.table import Table


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured quantity."""

    median: float
    p99: float
    unit: str


def figure(samples: Sequence[float] | np.ndarray, unit: str, scale: float = 1.0) -> Figure:
    """Median and 99th percentile of `samples` times `scale`."""
    values = np.asarray(samples, dtype=float) * scale
    return Figure(float(np.median(values)), float(np.percentile(values, 99)), unit)


def single(value: float, unit: str) -> Figure:
    """A quantity measured once: median and p99 are the same."""
    return Figure(value, value, unit)


def arguments(description: str | None) -> argparse.ArgumentParser:
    """Parser with the options of every benchmark."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    return parser


def report(title: str, figures: Mapping[str, Figure], as_json: bool) -> None:
    """Print the figures, as a table or as JSON."""
    if as_json:
        json.dump({name: asdict(value) for name, value in figures.items()}, sys.stdout, indent=2)
        sys.stdout.write("\n")
        return
    table = Table(title=title, title_justify="left")
    for column, justify in (("figure", "left"), ("median", "right"), ("p99", "right"), ("", "left")):
        table.add_column(column, justify=justify)
    for name, value in figures.items():
        table.add_row(name, f"{value.median:.4g}", f"{value.p99:.4g}", value.unit)
    Console(width=110).print(table)
