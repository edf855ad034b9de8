"""Snapshots as HTML. Text from topics is escaped; unknown values are a dash."""

from collections.abc import Sequence
from html import escape

from humanoid_control_common.rules.modes import Mode
from humanoid_control_common.rules.safety import SafetyFlag, SafetyLevel
from humanoid_viz.state.state import JointRow, ModeInForce, SafetyRow, Snapshot, StreamState

UNKNOWN = "–"

# Attribute of JointRow, heading, unit, decimals.
COLUMNS = (
    ("position", "pos", "rad", 3),
    ("velocity", "vel", "rad/s", 2),
    ("effort", "effort", "Nm", 2),
    ("command_position", "pos cmd", "rad", 3),
    ("command_stiffness", "kp", "Nm/rad", 1),
    ("command_damping", "kd", "Nm·s/rad", 1),
)


def mode_name(number: int) -> str:
    """Return the name of a mode, also of one that does not exist."""
    return Mode(number).name if number in set(Mode) else f"unknown mode {number}"


def level_name(number: int) -> str:
    """Return the name of a safety level, also of one that does not exist."""
    return SafetyLevel(number).name if number in set(SafetyLevel) else f"LEVEL {number}"


def number(value: float | None, decimals: int) -> str:
    """Return a value for the joint table, without "-0.00"; a dash if unknown."""
    if value is None:
        return UNKNOWN
    return f"{round(value, decimals) + 0.0:.{decimals}f}"


def seconds(age: float) -> str:
    """Return an age [s] as text, the coarser the greater it is."""
    if age < 1.0:
        return f"{age * 1000:.0f} ms"
    return f"{age:.1f} s" if age < 60 else f"{age / 60:.0f} min"


def connection_text(snapshot: Snapshot) -> str:
    """Return the state of the connection as text."""
    connection = snapshot.connection
    if connection.flow is StreamState.NEVER or connection.age is None:
        return "waiting for joint states"
    if connection.flow is StreamState.LOST:
        return f"connection lost {seconds(connection.age)} ago"
    rate = "" if connection.rate is None else f" {connection.rate:.0f} Hz"
    return f"connected{rate}"


def header_html(snapshot: Snapshot) -> str:
    """Return connection, mode in force and the mode manager's message, at a constant height."""
    lost = snapshot.connection.flow is StreamState.LOST
    overlay = '<div class="hc-overlay">CONNECTION LOST</div>' if lost else ""
    return (
        f'<div class="hc hc-{snapshot.connection.flow.value}">{overlay}'
        f'<div class="hc-line hc-connection">{escape(connection_text(snapshot))}</div>'
        f"{_mode_html(snapshot.mode)}"
        f'<div class="hc-line hc-detail">{escape(_detail(snapshot))}</div>'
        f"{_progress_html(snapshot)}"
        f"{_message_html(snapshot.mode)}</div>"
    )


def _mode_html(mode: ModeInForce) -> str:
    if mode.flow is not StreamState.FLOWING or mode.statement is None:
        return f'<div class="hc-line hc-mode">{UNKNOWN}</div>'
    name = mode_name(mode.statement.mode)
    known = f"hc-{name}" if mode.statement.mode in set(Mode) else "hc-unknown"
    return f'<div class="hc-line hc-mode {known}">{escape(name)}</div>'


def _detail(snapshot: Snapshot) -> str:
    """Return the line under the mode: controller and progress, or why the mode is unknown."""
    mode = snapshot.mode
    if mode.statement is None or mode.age is None:
        return "mode unknown: none stated yet"
    if mode.flow is StreamState.LOST:
        return f"mode unknown: {mode_name(mode.statement.mode)} was stated {seconds(mode.age)} ago"
    progress = ""
    if mode.statement.mode == Mode.STANDBY:
        progress = " · " + _standby_text(snapshot)
    return f"{mode.statement.controller}{progress}"


def _standby_text(snapshot: Snapshot) -> str:
    standby = snapshot.standby
    if standby is None:
        return "progress unknown"
    if standby.finished:
        return "ready pose reached"
    part = f", segment {standby.segment + 1} of {standby.segments}" if standby.segments > 1 else ""
    return f"{standby.progress:.0%} of the way to the ready pose{part}"


def _progress_html(snapshot: Snapshot) -> str:
    standby = snapshot.standby
    filled = 0.0 if standby is None else 100.0 * min(max(standby.progress, 0.0), 1.0)
    known = "" if standby is None else " hc-known"
    return f'<div class="hc-progress{known}"><div style="width:{filled:.0f}%"></div></div>'


def _message_html(mode: ModeInForce) -> str:
    if mode.flow is not StreamState.FLOWING or mode.statement is None or not mode.statement.message:
        return '<div class="hc-message"></div>'
    text = escape(mode.statement.message)
    return f'<div class="hc-message hc-filled" title="{text}">{text}</div>'


def answer_html(snapshot: Snapshot) -> str:
    """Return the outcome of the last click, at a constant height."""
    if snapshot.answer is None:
        return '<div class="hc hc-answer"></div>'
    refused = " hc-refused" if snapshot.answer.refused else ""
    text = escape(snapshot.answer.text)
    return f'<div class="hc hc-answer{refused}" title="{text}">{text}</div>'


def safety_html(snapshot: Snapshot) -> str:
    """Return one line per safety source, the worst first."""
    if not snapshot.safety:
        return '<div class="hc hc-safety">no safety source has reported yet</div>'
    rows = sorted(snapshot.safety, key=lambda row: (-row.report.level, row.report.source))
    return f'<div class="hc hc-safety">{"".join(map(_safety_row, rows))}</div>'


def _safety_row(row: SafetyRow) -> str:
    report = row.report
    flags = [flag.name for flag in SafetyFlag if report.flags & flag]
    parts = [report.message, ", ".join(name for name in flags if name)]
    text = escape(" · ".join(part for part in parts if part))
    if row.outdated:
        text = (
            f"before the connection was lost: {text}" if text else "before the connection was lost"
        )
    level = level_name(report.level)
    known = f"hc-{level}" if report.level in set(SafetyLevel) else "hc-CRITICAL"
    outdated = " hc-outdated" if row.outdated else ""
    return (
        f'<div class="hc-source {known}{outdated}"><b>{escape(level)}</b> '
        f"<span>{escape(report.source)}</span> {text}</div>"
    )


def notices(snapshot: Snapshot) -> list[str]:
    """Return what is missing from the page, and why."""
    if snapshot.description_error:
        return [f"No robot is drawn: {snapshot.description_error}"]
    if snapshot.model is None:
        return ["No robot is drawn: waiting for robot_description"]
    found = []
    silent = [row.name for row in snapshot.joints if row.position is None]
    if snapshot.connection.flow is not StreamState.NEVER and silent:
        found.append(f"Drawn at zero, position unknown: {', '.join(silent)}")
    if snapshot.unknown_joints:
        found.append(f"Not in the robot description: {', '.join(snapshot.unknown_joints)}")
    if snapshot.model.not_drawn:
        found.append(
            f"Not drawn, their meshes can not be read here: {', '.join(snapshot.model.not_drawn)}"
        )
    return found


def notices_html(snapshot: Snapshot) -> str:
    """Return the notices, one below the other; an empty box without any."""
    lines = "".join(f'<div class="hc-notice">{escape(text)}</div>' for text in notices(snapshot))
    return f'<div class="hc hc-notices">{lines}</div>'


def table_html(snapshot: Snapshot) -> str:
    """Return the joint table."""
    old = "" if snapshot.connection.flow is StreamState.FLOWING else " hc-outdated"
    units = "".join(f"<th>{heading}<i>{unit}</i></th>" for _, heading, unit, _ in COLUMNS)
    return (
        f'<div class="hc-table"><table class="hc-joints{old}">'
        f"<thead><tr><th>joint</th>{units}</tr></thead>"
        f"<tbody>{_table_rows(snapshot.joints)}</tbody></table></div>"
    )


def _table_rows(rows: Sequence[JointRow]) -> str:
    if not rows:
        return f'<tr><td colspan="{len(COLUMNS) + 1}">no joints known yet</td></tr>'
    return "".join(
        f"<tr><td>{escape(row.name)}</td>"
        + "".join(
            f"<td>{number(getattr(row, name), digits)}</td>" for name, _, _, digits in COLUMNS
        )
        + "</tr>"
        for row in rows
    )


def beat_html(beat: int) -> str:
    """Return a sign of life, which fades into a warning unless the viewer replaces it in time."""
    return f'<div class="hc-overlay hc-beat" data-beat="{beat}">NO DATA FROM THE VIEWER</div>'
