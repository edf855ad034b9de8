"""Valid updates, nearly valid updates, and random bytes."""

from __future__ import annotations

from random import Random
from typing import Any, Final

from humanoid_joint_client import joint_stream_pb2 as pb

SECOND: Final = 1_000_000_000  # [ns]
LARGEST: Final = (1 << 63) - 1
NUMBERS: Final = (
    float("nan"),
    float("inf"),
    float("-inf"),
    1e308,
    -1e308,
    5e-324,
    -0.0,
    1e9,
    -1e9,
    3.0,
)


def valid(now: int, joints: int, lease: str, chance: Random) -> Any:
    """An update that the robot executes."""

    def values(largest: float) -> list[float]:
        return [chance.uniform(-largest, largest) for _ in range(joints)]

    return pb.Update(
        end_time=now + chance.randrange(SECOND // 50, SECOND // 2),
        position=values(0.5),
        velocity=values(0.1),
        load=values(1.0),
        gains=pb.Gains(k_q_p=[20.0] * joints, k_qd_p=[2.0] * joints),
        user_command_key=chance.randrange(1 << 32),
        extrapolation_duration=chance.randrange(SECOND // 10),
        lease=lease,
    )


def fuzzed(now: int, joints: int, lease: str, chance: Random) -> bytes:
    """Return an update as bytes, with up to three errors."""
    update = valid(now, joints, lease, chance)
    for _ in range(chance.randrange(4)):
        chance.choice(_MUTATIONS)(update, now, chance)
    data: bytes = update.SerializeToString()
    what = chance.randrange(20)
    if what == 0:
        return chance.randbytes(chance.randrange(300))
    if what == 1:
        return data[: chance.randrange(len(data) + 1)]
    if what == 2 and data:
        broken = bytearray(data)
        for _ in range(chance.randrange(1, 5)):
            broken[chance.randrange(len(broken))] = chance.randrange(256)
        return bytes(broken)
    if what == 3:
        return data + chance.randbytes(chance.randrange(20))
    return data


def _arrays(update: Any) -> list[Any]:
    gains = update.gains
    return [update.position, update.velocity, update.load, gains.k_q_p, gains.k_qd_p]


def _number(update: Any, _: int, chance: Random) -> None:
    array = chance.choice(_arrays(update))
    if len(array):
        array[chance.randrange(len(array))] = chance.choice(NUMBERS)


def _length(update: Any, _: int, chance: Random) -> None:
    array = chance.choice(_arrays(update))
    if chance.random() < 0.5:
        array.extend([0.0] * chance.choice((1, 2, 1000)))
    else:
        del array[chance.randrange(len(array) + 1) :]


def _missing(update: Any, _: int, chance: Random) -> None:
    update.ClearField(chance.choice(("end_time", "gains", "position", "load", "lease")))


def _time(now: int, chance: Random) -> int:
    near = now + chance.randrange(-SECOND, 3 * SECOND)
    return chance.choice((0, -1, LARGEST, -LARGEST - 1, now, now + 1, near))


def _end(update: Any, now: int, chance: Random) -> None:
    update.end_time = _time(now, chance)


def _reference(update: Any, now: int, chance: Random) -> None:
    update.reference_time = _time(now, chance)


def _extrapolation(update: Any, now: int, chance: Random) -> None:
    update.extrapolation_duration = _time(now, chance)


def _limit(update: Any, _: int, chance: Random) -> None:
    update.velocity_safety_limit = chance.choice((*NUMBERS, 0.0, -1.0, 10.0))


def _advice(update: Any, _: int, chance: Random) -> None:
    update.contact_advice.extend([chance.randrange(1 << 32)] * chance.randrange(5))


def _lease(update: Any, _: int, chance: Random) -> None:
    update.lease = chance.choice(("", "wrong", "é" * 50))


_MUTATIONS: Final = (
    _number,
    _number,
    _length,
    _missing,
    _end,
    _reference,
    _extrapolation,
    _limit,
    _advice,
    _lease,
)
