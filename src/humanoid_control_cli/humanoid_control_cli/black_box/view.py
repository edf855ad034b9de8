"""Screens of `hc blackbox`: the list of files, and the report of a fault."""

import math
import time
from collections.abc import Iterator
from pathlib import Path
from textwrap import shorten
from typing import Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from humanoid_control_cli.black_box.files import Listing, others_text
from humanoid_control_cli.diagnosis_view import WIDTH, advice, with_codes
from humanoid_control_cli.folding import fold
from humanoid_recording.black_box.fault_report import FaultEvent, FaultReport
from humanoid_recording.black_box.joint_outliers import JointOutlier
from humanoid_recording.black_box.origin import Origin

MOST: Final = 40  # events before the fault that are shown; after it, all
_LONGEST_WHY: Final = 60  # characters of a reason in the list; `show` has all of it
_CLOSE: Final = 0.5  # of its limit, from which on a joint is worth a colour


def listed(listing: Listing) -> RenderableType:
    """Return the files, from which robot each is, and why there is each."""
    table = Table(box=None, pad_edge=False)
    for name in ("file", "domain", "backend", "MB", "fault at", "why"):
        table.add_column(name, no_wrap=name != "why", justify="right" if name == "MB" else "left")
    for row in listing.rows:
        reason = row.reasons[0].text if row.reasons else "unknown"
        why = shorten(reason, _LONGEST_WHY, placeholder=" …")
        more = len(row.reasons) - 1
        table.add_row(
            row.name,
            row.origin.domain_text,
            row.origin.backend_text,
            f"{row.size / 1e6:.1f}",
            time.strftime("%H:%M:%S", time.localtime(row.fault)),
            why + (f" (and {more} more)" if more > 0 else ""),
        )
    if not listing.others:
        return table
    return Group(table, Text(f"{listing.others} more {others_text(listing.others)}"))


def fault_view(path: Path, origin: Origin, report: FaultReport) -> RenderableType:
    """Show the events that led to a fault, and the remedies."""
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(report.fault))
    parts: list[RenderableType] = [
        Text(path.name, style="bold"),
        Text(str(origin)),
        Text(f"0.00 s is {when}; {report.before:.1f} s before it, {report.after:.1f} s after it"),
        *(
            Text(fold(f"why: {with_codes(reason)}", WIDTH, rest="     "))
            for reason in report.reasons
        ),
        *_events(report.events),
        *_joints(report.joints),
        *advice(_codes(report)),
    ]
    if report.damage:
        parts.append(Text(report.damage, style="yellow"))
    return Group(*parts)


def _codes(story: FaultReport) -> Iterator[str]:
    """Yield the codes of the reasons for the file, then of its alarms."""
    for reason in story.reasons:
        yield from reason.codes
    for event in story.events:
        if event.alarm:
            yield from event.codes


def _events(events: tuple[FaultEvent, ...]) -> Iterator[RenderableType]:
    yield Text("\nwhat happened", style="bold")
    before = [event for event in events if event.time < 0.0]
    hidden = max(0, len(before) - MOST)
    if hidden:
        yield Text(f"({hidden} earlier events are in the file)")
    for event in events[hidden:]:
        line = fold(f"{event.time:+8.2f} s  {event.text}", WIDTH, rest=" " * 12)
        yield Text(line, style="bold red" if event.alarm else "")
    if not events:
        yield Text("no recorded events")


def _joints(joints: tuple[JointOutlier, ...]) -> Iterator[RenderableType]:
    if joints:
        yield Text("\njoints in the second before", style="bold")
    for found in joints:
        share = "" if math.isnan(found.share) else f", {found.share:.0%} of its limit"
        line = f"{found.what:<15} {found.joint} {found.value:.3g} {found.unit}{share}"
        yield Text(line, style="yellow" if found.share >= _CLOSE else "")
