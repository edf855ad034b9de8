"""The MIT law at the joints of all CAN families, within the rounding of their fields."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import pi
from typing import Any

import pytest

SITO_COUNT = 2 * pi / 65536  # [rad], and [rad/s] of the velocity field
SITO_MILLIAMPERE = 9e-5 * 51  # [Nm] at the output of a TA40-50
FLOAT32 = 2.0**-24  # relative rounding


def sito(row: Any, position: float, velocity: float) -> float:
    """Half a unit of each field of a Sito command, and the gains' float32."""
    fields = row.stiffness * SITO_COUNT + row.damping * SITO_COUNT + SITO_MILLIAMPERE
    spring = row.stiffness * abs(row.position - position)
    return 0.5 * fields + FLOAT32 * (spring + row.damping * abs(row.velocity - velocity))


@dataclass(frozen=True)
class Robstride:
    """Half a unit of each field of a Robstride command, products of two of them included."""

    velocity: float  # [rad/s] and so on: the ranges of the fields
    torque: float
    stiffness: float
    damping: float

    def __call__(self, row: Any, position: float, velocity: float) -> float:
        half_position = 0.5 * 4 * pi / 32767
        half_velocity = 0.5 * self.velocity / 32767
        half_stiffness = 0.5 * self.stiffness / 65535
        half_damping = 0.5 * self.damping / 65535
        return (
            row.stiffness * half_position
            + (abs(row.position - position) + half_position) * half_stiffness
            + row.damping * half_velocity
            + (abs(row.velocity - velocity) + half_velocity) * half_damping
            + 0.5 * self.torque / 32767
        )


BOUNDS: dict[tuple[str, str], Callable[[Any, float, float], float]] = {
    ("sito", "TA40-50"): sito,
    ("robstride", "rs-00"): Robstride(33.0, 14.0, 500.0, 5.0),
    ("robstride", "rs-01"): Robstride(44.0, 17.0, 500.0, 5.0),
    ("robstride", "rs-02"): Robstride(44.0, 17.0, 500.0, 5.0),
    ("robstride", "rs-03"): Robstride(20.0, 60.0, 5000.0, 100.0),
    ("robstride", "rs-04"): Robstride(15.0, 120.0, 5000.0, 100.0),
    ("robstride", "rs-05"): Robstride(50.0, 5.5, 500.0, 5.0),
    ("robstride", "rs-06"): Robstride(50.0, 36.0, 5000.0, 100.0),
}


# The law is measured while the component sends nothing, however long a busy machine takes.
WITHOUT_WATCHDOG: dict[str, dict[str, str]] = {"robstride": {"can_timeout": "0"}}


@pytest.fixture(scope="module", params=BOUNDS, ids=" ".join)
def rig_and_bound(request: pytest.FixtureRequest, make_rig: Any) -> Iterator[tuple[str, Any, Any]]:
    with make_rig(*request.param, **WITHOUT_WATCHDOG.get(request.param[0], {})) as rig:
        yield " ".join(request.param), rig, BOUNDS[request.param]


def test_five_numbers_give_the_torque_of_the_law_at_the_joint(
    rig_and_bound: Any, row: Any, known_state: Any, law_table: Any
) -> None:
    name, rig, bound_of = rig_and_bound
    rig.command(row)
    expected, bound = row.law(*known_state), bound_of(row, *known_state) + 1e-9
    assert bound < 0.1  # [Nm]; fields of 12 bits still distinguish two laws
    torques = rig.joints.torque_at(*known_state).tolist()
    for torque, mounted in zip(torques, ("", ", reversed"), strict=True):
        law_table.add(row.name, name + mounted, expected, torque, torque - expected, bound)
        assert torque == pytest.approx(expected, abs=bound)
