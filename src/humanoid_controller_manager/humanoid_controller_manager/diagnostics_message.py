"""Diagnoses as diagnostic_msgs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import ceil
from typing import Final

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

from humanoid_control_common.diagnosis import Diagnosis

AT_ONCE: Final = 4  # statuses, about 0.1 ms
MOST_ARRAYS: Final = 8  # fewer than wait in anybody's queue


def diagnostic_arrays(stamp: Time, diagnoses: Sequence[Diagnosis]) -> Iterator[DiagnosticArray]:
    """The same in several messages, the first diagnoses first.

    rclpy converts a message without letting other threads run: no tick may wait long for that.
    """
    size = max(AT_ONCE, ceil(len(diagnoses) / MOST_ARRAYS))
    for first in range(0, len(diagnoses), size):
        yield diagnostic_array(stamp, diagnoses[first : first + size])


def diagnostic_array(stamp: Time, diagnoses: Iterable[Diagnosis]) -> DiagnosticArray:
    """The array that goes out on /diagnostics."""
    array = DiagnosticArray(status=[_status(diagnosis) for diagnosis in diagnoses])
    array.header.stamp = stamp
    return array


def _status(diagnosis: Diagnosis) -> DiagnosticStatus:
    return DiagnosticStatus(
        level=bytes([diagnosis.level]),
        name=diagnosis.name,
        message=diagnosis.message,
        hardware_id=diagnosis.source,
        values=[KeyValue(key=key, value=value) for key, value in diagnosis.values.items()],
    )
