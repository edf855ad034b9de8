"""Raw fields of frames: pack and unpack them, and saturate commands to what they carry."""

from __future__ import annotations

import struct
from struct import Struct
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humanoid_control_common.clamping import clamp
from humanoid_devices_can.errors import ProtocolError


def pack(layout: Struct, name: str, *fields: float | bytes) -> bytes:
    """Return the fields of message `name` as bytes. Raises ProtocolError if one doesn't fit."""
    try:
        return layout.pack(*fields)
    except (struct.error, OverflowError) as error:
        raise ProtocolError(f"{name} {fields}: {error}") from error


def unpack(layout: Struct, name: str, payload: bytes) -> tuple[Any, ...]:
    """Return the fields of message `name`. Raises ProtocolError for a payload of another length."""
    if len(payload) != layout.size:
        raise ProtocolError(
            f"{name} has {layout.size} bytes, not {len(payload)}: '{payload.hex(' ')}'"
        )
    return layout.unpack(payload)


def saturate(
    wanted: ArrayLike, low: ArrayLike, high: ArrayLike
) -> tuple[list[list[int]], NDArray[np.bool_]]:
    """Round raw values, shape (fields, motors), and limit them to `low` and `high`.

    The bounds have one number for all fields, or shape (fields, 1). Return the fields of each
    motor, and for which motors a value did not fit.
    """
    rounded = np.rint(wanted)
    fields = clamp(rounded, low, high)
    rows: list[list[int]] = fields.T.astype(np.int64).tolist()
    return rows, np.asarray((fields != rounded).any(axis=0))
