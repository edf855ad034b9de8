"""Random changes of a policy's file: it is refused with the right reason, or loaded as written."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable
from typing import Final

import pytest
from test_support.policies import policy_model

from humanoid_policy.errors import PolicyRefusedError
from humanoid_policy.metadata import NOTES, ActionKind, PolicyMetadata
from humanoid_policy.model import PolicyModel
from humanoid_policy.observation.terms import TERMS

FEW, MANY = 300, 10_000
PER_JOINT: Final = ("joint_stiffness", "joint_damping", "default_joint_pos")
LISTS: Final = (*PER_JOINT, "joint_names", "action_joint_names", "action_scale",
                "observation_names", "observation_scales")  # fmt: skip
NUMBERS: Final = (*PER_JOINT, "action_scale", "observation_scales")
WRONG_NUMBERS: Final = ("nan", "inf", "-inf", "x", "", "1e999", "0x10", "1_0", "1.5.2", "--1", "١")
Properties = dict[str, str]
# Changes of the properties by a mutation, and words of its refusal; none: it loads.
Mutation = Callable[[Properties, random.Random], tuple[str, ...]]


def items(properties: Properties, key: str) -> list[str]:
    return properties[key].split(",")


def drop_key(properties: Properties, dice: random.Random) -> tuple[str, ...]:
    key = dice.choice(sorted(properties))
    del properties[key]
    return () if key == "observation_scales" else ("missing", key)


def misspell_key(properties: Properties, dice: random.Random) -> tuple[str, ...]:
    key = dice.choice(sorted(properties))
    at = dice.randrange(len(key))
    wrong = key[:at] + chr(ord(key[at]) ^ 1) + key[at + 1 :]
    properties[wrong] = properties.pop(key)
    return ("unknown", wrong)


def add_note(properties: Properties, dice: random.Random) -> tuple[str, ...]:
    properties[dice.choice(sorted(NOTES))] = "\x00" * dice.randrange(5)
    return ()


def wrong_number(properties: Properties, dice: random.Random) -> tuple[str, ...]:
    key = dice.choice(NUMBERS)
    values = items(properties, key)
    at = dice.randrange(len(values))
    values[at] = dice.choice(WRONG_NUMBERS)
    properties[key] = ",".join(values)
    return (key, f"index {at}", "number")


def other_number(properties: Properties, dice: random.Random) -> tuple[str, ...]:
    key = dice.choice(NUMBERS)
    values = items(properties, key)
    at = dice.randrange(len(values))
    number = dice.choice((-1, 1)) * 10.0 ** dice.uniform(-8, 8)
    values[at] = repr(number)
    properties[key] = ",".join(values)
    if abs(number) > 1e6:
        return (key, f"index {at}", "at most 1e+06")
    if number < 0.0 and key in ("joint_stiffness", "joint_damping"):
        return (key, f"(index {at})", "expected 0 or more")
    return ()


def another_length(properties: Properties, dice: random.Random) -> tuple[str, ...]:
    key = dice.choice(NUMBERS)
    values = items(properties, key)
    wanted = {"action_scale": 2}.get(key, 3)
    count = dice.choice([it for it in range(1, 7) if it not in (wanted, len(values))])
    properties[key] = ",".join((values * 6)[:count])
    if key == "action_scale" and count == 1:
        return ()
    return (key, f"found {count} values, expected {wanted}")


def named_twice(properties: Properties, dice: random.Random) -> tuple[str, ...]:
    key = dice.choice(("joint_names", "action_joint_names", "observation_names"))
    values = items(properties, key)
    first, second = sorted(dice.sample(range(len(values)), 2))
    values[second] = values[first]
    properties[key] = ",".join(values)
    return (key, f"index {second}", "is named twice")


def unknown_name(properties: Properties, dice: random.Random) -> tuple[str, ...]:
    key, known = dice.choice((("action_joint_names", "joint_names"), ("observation_names", "term")))
    values = items(properties, key)
    at = dice.randrange(len(values))
    values[at] += dice.choice(("s", "_", " pos", "\n.", "é"))
    properties[key] = ",".join(values)
    return (key, f"index {at}", "unknown", known)


def renamed_joint(properties: Properties, dice: random.Random) -> tuple[str, ...]:
    values = items(properties, "joint_names")
    at = dice.randrange(len(values))
    before, values[at] = values[at], "knee"
    properties["joint_names"] = ",".join(values)
    actions = items(properties, "action_joint_names")
    return ("action_joint_names", f"'{before}'") if before in actions else ()


def another_order(properties: Properties, dice: random.Random) -> tuple[str, ...]:
    key = dice.choice(LISTS)
    values = items(properties, key)
    dice.shuffle(values)
    properties[key] = dice.choice((",", ", ", " ,")).join(values)
    return ()


def another_kind(properties: Properties, dice: random.Random) -> tuple[str, ...]:
    kind = dice.choice((*ActionKind, "Targets", "", "target", "delta"))
    properties["action_kind"] = kind
    return () if kind in list(ActionKind) else ("action_kind", "expected one of targets, deltas")


def another_period(properties: Properties, dice: random.Random) -> tuple[str, ...]:
    text = dice.choice(("0.02", "1.0", "0", "-0.02", "1.0001", "0.02 s", "", "nan", "20,20"))
    properties["policy_period"] = text
    return () if text in ("0.02", "1.0") else ("policy_period",)


def other_terms(properties: Properties, dice: random.Random) -> tuple[str, ...]:
    """Terms that exist, but not of the size that the model has."""
    names = dice.sample(sorted(TERMS), 3)
    properties["observation_names"] = ",".join(names)
    sizes = {"actions": 2, "phase": 1}
    size = sum(sizes.get(name, 3) for name in names)
    return (
        ()
        if size == 8
        else ("input 'observation'", "[1, 8]", f"expected tensor(float) [1, {size}]")
    )


def fewer_actions(properties: Properties, dice: random.Random) -> tuple[str, ...]:
    properties["action_joint_names"] = dice.choice(("wrist", "wrist,shoulder,elbow"))
    properties["observation_names"] = "joint_pos,joint_vel,phase"
    return ("input 'observation'", "expected tensor(float) [1, 7]")


MUTATIONS: Final[tuple[Mutation, ...]] = (
    drop_key, misspell_key, add_note, wrong_number, other_number, another_length, named_twice,
    unknown_name, renamed_joint, another_order, another_kind, another_period, other_terms,
    fewer_actions,
)  # fmt: skip


def with_properties(content: bytes, properties: Properties) -> bytes:
    """Return a model with other metadata: field 14 of a ModelProto, messages of key and value."""
    found = bytearray(content)
    for key, value in properties.items():
        pair = b"".join(
            bytes([number << 3 | 2]) + _size(text) + text
            for number, text in ((1, key.encode()), (2, value.encode()))
        )
        found += bytes([14 << 3 | 2]) + _size(pair) + pair
    return bytes(found)


def _size(content: bytes) -> bytes:
    count, found = len(content), bytearray()
    while count > 0x7F:
        found.append(count & 0x7F | 0x80)
        count >>= 7
    return bytes([*found, count])


def check(bare: bytes, properties: Properties, seed: int) -> str:
    """Change the metadata by one mutation; return its name."""
    dice = random.Random(seed)
    mutate, changed = dice.choice(MUTATIONS), dict(properties)
    words = mutate(changed, dice)
    content = with_properties(bare, changed)
    try:
        model = PolicyModel(content, "policy.onnx")
    except PolicyRefusedError as error:
        text = str(error)
        assert words, f"seed {seed}, {mutate.__name__}: {text}"
        assert [word for word in words if word not in text] == [], f"seed {seed}: {text}"
        assert text.startswith("policy.onnx: "), f"seed {seed}: {text}"
        assert len(text) < 600
    else:
        assert not words, f"seed {seed}, {mutate.__name__}: loaded, expected {words}"
        _loaded_rightly(model.metadata, changed, seed)
    return mutate.__name__


def _loaded_rightly(metadata: PolicyMetadata, properties: Properties, seed: int) -> None:
    """Compare with an independent reader: every value is that of the file."""
    for key, text in metadata.to_strings().items():
        given = re.split(r"\s*,\s*", properties[key].strip())
        found = text.split(",")
        if key in (*NUMBERS, "policy_period"):
            pairs = zip(map(float, found), map(float, given), strict=True)
            assert all(math.isclose(a, b, rel_tol=0.0) for a, b in pairs), f"seed {seed}: {key}"
        else:
            assert found == given, f"seed {seed}: {key}"


@pytest.fixture
def bare(properties: Properties) -> bytes:
    import onnx

    model = onnx.load_from_string(policy_model(properties))
    del model.metadata_props[:]
    return bytes(model.SerializeToString())


def test_mutations_are_refused_with_the_right_text_or_loaded_rightly(
    bare: bytes, properties: Properties
) -> None:
    done = [check(bare, properties, seed) for seed in range(FEW)]
    assert set(done) == {mutate.__name__ for mutate in MUTATIONS}


@pytest.mark.soak
def test_10_000_mutations(bare: bytes, properties: Properties) -> None:
    for seed in range(1_000_000, 1_000_000 + MANY):
        check(bare, properties, seed)


def _damaged(content: bytes, seed: int) -> bytes:
    """Change, remove or repeat some bytes of a model."""
    dice, found = random.Random(seed), bytearray(content)
    for _ in range(dice.randint(1, 4)):
        at = dice.randrange(len(found))
        what = dice.randrange(4)
        if what == 0:
            found[at] ^= 1 << dice.randrange(8)
        elif what == 1:
            del found[at : at + dice.randint(1, 20)]
        elif what == 2:
            found[at:at] = found[at : at + dice.randint(1, 20)]
        else:
            del found[at:]
        if not found:
            break
    return bytes(found)


def _survives(content: bytes, seed: int) -> bool:
    """Return True if a damaged model loads; only a refusal may be raised."""
    damaged = _damaged(content, seed)
    try:
        model = PolicyModel(damaged, "policy.onnx")
    except PolicyRefusedError as error:
        assert str(error).startswith("policy.onnx: "), f"seed {seed}"
        return False
    assert model.observation.size > 0
    return True


def test_damaged_files_are_refused_or_loaded(properties: Properties) -> None:
    content = policy_model(properties)
    loaded = sum(_survives(content, seed) for seed in range(FEW))
    assert 0 < loaded < FEW


@pytest.mark.soak
def test_10_000_damaged_files(properties: Properties) -> None:
    content = policy_model(properties)
    for seed in range(1_000_000, 1_000_000 + MANY):
        _survives(content, seed)
