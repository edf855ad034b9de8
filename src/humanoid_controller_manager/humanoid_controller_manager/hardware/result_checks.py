"""Checks of the results of a component's duties, at the call.

A component is a plug-in. Its results go into arrays, comparisons and messages far from the call: a
wrong type or shape would raise there, in the middle of a tick.
"""

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf, isfinite, nan
from typing import Any, Final, cast

import numpy as np

from humanoid_control_common.errors import HardwareError
from humanoid_control_common.robot.joints import FloatArray
from humanoid_control_common.robot.mit_interface import COMMAND_INTERFACES, Capability
from humanoid_control_common.rules.diagnosis import Diagnosis, DiagnosisLevel
from humanoid_control_common.rules.safety import SafetyFlag, SafetyLevel, SafetyReport
from humanoid_controller_manager.hardware_component import CapabilityArray, HardwareComponent

LONGEST_SHOWN: Final = 60  # characters of a wrong result in a message


class ResultError(HardwareError):
    """The result of a duty breaks its contract."""

    def __init__(self, found: object, expected: str) -> None:
        super().__init__(f"found {shown(found)}, expected {expected}")


def finite_number(component: HardwareComponent, duty: str, least: float = -inf) -> float:
    """Return the value of a duty that is a finite number, `least` or more.

    Raises what the duty raises; ValueError for another value.
    """
    value = float(getattr(component, duty))
    if not isfinite(value):
        raise ValueError(f"found {value}, expected a finite number")
    if value < least:
        raise ValueError(f"found {value:g}, expected {least:g} or more")
    return value


@dataclass(frozen=True, slots=True)
class ResultChecks:
    """Checks of one component's results. Each returns the result in the type the stack uses.

    Args:
        name: of the component's block.
        joint_count: of the component's block, n.
        period: of the loop [s].

    They raise ResultError with the value found and the one expected.
    """

    name: str
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
        raise ResultError(found, f"Capability values, shape {shape}")

    def tick_correction(self, found: Any) -> float:
        """See HardwareComponent. More than a period would stop the loop, or end its pauses."""
        value = float(found) if isinstance(found, float | int | np.floating) else nan
        if abs(value) <= self.period:  # which NaN is not
            return value
        raise ResultError(found, f"at most {self.period:g} s, either way")

    def safety(self, found: object) -> SafetyReport:
        """See HardwareComponent: a report of this component, whose fields have their types."""
        if not isinstance(found, SafetyReport):
            raise ResultError(found, "a SafetyReport")
        for value, kind in (
            (found.source, str),
            (found.level, SafetyLevel),
            (found.flags, SafetyFlag),
            (found.message, str),
        ):
            if not isinstance(value, kind):
                raise ResultError(value, f"a {kind.__name__} in the SafetyReport")
        if found.source != self.name:
            raise ResultError(found.source, f"the source '{self.name}' in the SafetyReport")
        if not _are_codes(found.codes):
            raise ResultError(found.codes, "a tuple of names of reason codes in the SafetyReport")
        return found

    def _floats(self, found: object) -> FloatArray | None:
        """Return `found` if it is an array of floats with one entry per joint, else None."""
        if isinstance(found, np.ndarray) and found.dtype.kind == "f":
            return found if found.shape == (self.joint_count,) else None
        return None

    def _error(self, found: object, expected: str) -> ResultError:
        return ResultError(found, f"floats of shape ({self.joint_count},), {expected}")


def impedance_confirmed(found: object) -> bool:
    """See HardwareComponent. An object of another type may be true without confirming."""
    if isinstance(found, bool | np.bool_):
        return bool(found)
    raise ResultError(found, "True or False")


def counter_names(found: object) -> tuple[str, ...]:
    """See HardwareComponent."""
    if isinstance(found, tuple | list) and all(isinstance(name, str) for name in found):
        return tuple(found)
    raise ResultError(found, "a tuple of str")


def bus_counts(layout: struct.Struct, count: int) -> Callable[[Any], bytes]:
    """Return the check of `count` counters, which packs them by `layout`."""

    def check(found: Any) -> bytes:
        try:
            return layout.pack(*found)
        except (TypeError, struct.error) as error:
            raise ResultError(found, f"{count} integers of 64 bits") from error

    return check


def diagnose(found: object) -> tuple[Diagnosis, ...]:
    """See HardwareComponent."""
    if isinstance(found, tuple | list) and all(_is_diagnosis(it) for it in found):
        return tuple(found)
    raise ResultError(found, "a sequence of Diagnosis, of their types")


def exit_check(found: object) -> str:
    """See HardwareComponent."""
    if isinstance(found, str):
        return found
    raise ResultError(found, "a str")


def shown(found: object) -> str:
    """Return `found` in short words, without calling methods of an unknown class."""
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


def _is_diagnosis(found: object) -> bool:
    return (
        isinstance(found, Diagnosis)
        and isinstance(found.name, str)
        and isinstance(found.level, DiagnosisLevel)
        and isinstance(found.message, str)
        and isinstance(found.source, str)
        and isinstance(found.values, Mapping)
        and all(isinstance(word, str) for pair in found.values.items() for word in pair)
        and _are_codes(found.codes)
    )


def _are_codes(found: object) -> bool:
    return isinstance(found, tuple) and all(isinstance(name, str) for name in found)
