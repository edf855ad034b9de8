"""The metadata of a policy in words."""

from collections.abc import Iterator, Sequence

from humanoid_policy.metadata import PolicyMetadata
from humanoid_policy.observation.observation import Observation
from humanoid_policy.observation.terms import TERMS


def lines_of(metadata: PolicyMetadata, observation: Observation) -> Iterator[str]:
    """Yield the lines that describe a policy."""
    count = len(metadata.action_joint_names)
    yield (
        f"task {metadata.task}: {observation.size} values observed, {count} {metadata.action_kind} "
        f"every {metadata.policy_period:g} s"
    )
    yield ""
    scales = dict(zip(metadata.action_joint_names, metadata.scales, strict=True))
    rows = [("joint", "stiffness", "damping", "default", "action", "scale")]
    for name, stiffness, damping, default in zip(
        metadata.joint_names,
        metadata.joint_stiffness,
        metadata.joint_damping,
        metadata.default_joint_pos,
        strict=True,
    ):
        acts = name in scales
        place = str(metadata.action_joint_names.index(name)) if acts else "-"
        scale = f"{scales[name]:g}" if acts else "-"
        rows.append((name, f"{stiffness:g}", f"{damping:g}", f"{default:g}", place, scale))
    yield from _table(rows)
    yield ""
    factors = metadata.observation_scales or (1.0,) * len(observation.slices)
    terms = [("term", "values", "scale", "content")]
    for (name, place_), factor in zip(observation.slices.items(), factors, strict=True):
        span = f"{place_.start}-{place_.stop - 1}"
        terms.append((name, span, f"{factor:g}", TERMS[name].meaning))
    yield from _table(terms)
    yield ""


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
