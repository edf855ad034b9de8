"""What a component's duties have to give: checked before anybody relies on it.

A component is somebody else's code. What it gives goes into arrays, comparisons and messages far
from where it was asked: there a wrong type or shape would raise in the middle of a tick.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf, isfinite, nan
from typing import Any, Final, cast

import numpy as np

from humanoid_control_common.diagnosis import Diagnosis, DiagnosisLevel
from humanoid_control_common.errors import HardwareError
from humanoid_control_common.joints import FloatArray
from humanoid_control_common.safety import SafetyFlag, SafetyLevel, SafetyReport
from humanoid_control_common.surface import COMMAND_INTERFACES, Capability
from humanoid_controller_manager.hardware import CapabilityArray, HardwareComponent

LONGEST_SHOWN: Final = 60  # characters of what was found


class ResultError(HardwareError):
    """A duty gave what its contract doesn't allow."""


def finite_number(component: HardwareComponent, duty: str, least: float = -inf) -> float:
    """Value of a duty that is a number. Raises what it raises, ValueError if it isn't one.

    It is finite, and `least` or more.
    """
    value = float(getattr(component, duty))
    if not isfinite(value):
        raise ValueError(f"found {value}, expected a finite number")
    if value < least:
        raise ValueError(f"found {value:g}, expected {least:g} or more")
    return value


@dataclass(frozen=True, slots=True)
class Results:
    """The checks of one component's results. Each gives what the stack goes on with.

    Args:
        joint_count: of the component's block, n.
        period: of the loop [s].

    Raise ResultError that says what was found and what was expected.
    """

    joint_count: int
    period: float

    def effort_limit(self, found: object) -> FloatArray:
        """See HardwareComponent."""
        array = self._floats(found)
        if array is None or np.count_nonzero((array >= 0.0) & (array < inf)) < array.size:
            raise self._error(found, "all finite and not negative")
        return array

    def realized_stiffness(self, found: object) -> FloatArray | None:
        """See HardwareComponent."""
        if found is None:
            return None
        array = self._floats(found)
        if array is None or np.count_nonzero((array < 0.0) | np.isinf(array)):
            raise self._error(found, "finite and not negative or NaN, or None")
        return array

    def watchdog_times(self, found: object) -> FloatArray | None:
        """See HardwareComponent."""
        if found is None:
            return None
        array = self._floats(found)
        if array is None or np.count_nonzero(array >= 0.0) < array.size:
            raise self._error(found, "none negative or NaN, or None")
        return array

    def capabilities(self, found: Any) -> CapabilityArray:
        """See HardwareComponent."""
        shape = len(COMMAND_INTERFACES), self.joint_count
        fits = isinstance(found, np.ndarray) and found.shape == shape and found.dtype.kind in "iu"
        if fits and np.isin(found, list(Capability)).all():
            return cast(CapabilityArray, found)
        raise ResultError(f"found {shown(found)}, expected Capability values, shape {shape}")

    def tick_correction(self, found: Any) -> float:
        """See HardwareComponent. More than a period would stop the loop, or let it run free."""
        value = float(found) if isinstance(found, float | int | np.floating) else nan
        if abs(value) <= self.period:  # which NaN is not
            return value
        raise ResultError(f"found {shown(found)}, expected at most {self.period:g} s, either way")

    def _floats(self, found: object) -> FloatArray | None:
        """`found` if it is an array of numbers with one entry per joint."""
        if isinstance(found, np.ndarray) and found.dtype.kind == "f":
            return found if found.shape == (self.joint_count,) else None
        return None

    def _error(self, found: object, expected: str) -> ResultError:
        wanted = f"floats of shape ({self.joint_count},), {expected}"
        return ResultError(f"found {shown(found)}, expected {wanted}")


def impedance_confirmed(found: object) -> bool:
    """See HardwareComponent. Anything else may be true without confirming anything."""
    if isinstance(found, bool | np.bool_):
        return bool(found)
    raise ResultError(f"found {shown(found)}, expected True or False")


def safety(found: object) -> SafetyReport:
    """See HardwareComponent: a report whose fields are what they are said to be."""
    if isinstance(found, SafetyReport):
        if (
            isinstance(found.source, str)
            and isinstance(found.level, SafetyLevel)
            and isinstance(found.flags, SafetyFlag)
            and isinstance(found.message, str)
        ):
            return found
        fields = f"{shown(found.level)}, {shown(found.flags)}, {shown(found.message)}"
        raise ResultError(
            f"found a SafetyReport of {shown(found.source)}, {fields}, "
            "expected a str, a SafetyLevel, a SafetyFlag and a str"
        )
    raise ResultError(f"found {shown(found)}, expected a SafetyReport")


def counter_names(found: object) -> tuple[str, ...]:
    """See HardwareComponent."""
    if isinstance(found, tuple | list) and all(isinstance(name, str) for name in found):
        return tuple(found)
    raise ResultError(f"found {shown(found)}, expected a tuple of str")


def bus_counts(layout: struct.Struct, count: int) -> Callable[[Any], bytes]:
    """The check of what `count` counters give: the bytes that `layout` makes of them."""

    def check(found: Any) -> bytes:
        try:
            return layout.pack(*found)
        except (TypeError, struct.error) as error:
            said = f"found {shown(found)}, expected {count} integers of 64 bits"
            raise ResultError(said) from error

    return check


def diagnose(found: object) -> tuple[Diagnosis, ...]:
    """See HardwareComponent."""
    if isinstance(found, tuple | list) and all(_is_diagnosis(it) for it in found):
        return tuple(found)
    raise ResultError(f"found {shown(found)}, expected a sequence of Diagnosis, of their types")


def exit_check(found: object) -> str:
    """See HardwareComponent."""
    if isinstance(found, str):
        return found
    raise ResultError(f"found {shown(found)}, expected a str")


def shown(found: object) -> str:
    """What was found, in short words; runs nothing of a class that nobody knows."""
    if isinstance(found, np.ndarray):
        if found.size <= 4 and found.dtype.kind in "biuf":
            return f"{found.dtype} {found.tolist()}"
        kind = "" if found.dtype.kind not in "f" or np.isfinite(found).all() else ", not all finite"
        return f"{found.dtype} of shape {found.shape}{kind}"
    if found is None or type(found) in (bool, int, float, str):
        return repr(found)[:LONGEST_SHOWN]
    if type(found) in (tuple, list, dict):
        return f"a {type(found).__name__} of {len(found)}"  # type: ignore[arg-type]
    return f"a {type(found).__name__}"


def words_of(error: BaseException) -> str:
    """What an error says, or its type: its class is a plug-in's, too, and may fail to tell."""
    try:
        return str(error) or type(error).__name__
    except (Exception, SystemExit):
        return type(error).__name__


def _is_diagnosis(found: object) -> bool:
    return (
        isinstance(found, Diagnosis)
        and isinstance(found.name, str)
        and isinstance(found.level, DiagnosisLevel)
        and isinstance(found.message, str)
        and isinstance(found.source, str)
        and isinstance(found.values, Mapping)
        and all(isinstance(word, str) for pair in found.values.items() for word in pair)
    )
