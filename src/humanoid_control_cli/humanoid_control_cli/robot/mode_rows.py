"""The first rows of `hc status`: mode and controller in force."""

from rich.table import Table
from rich.text import Text

from humanoid_control_common.rules.modes import Mode
from humanoid_control_common.tick_records.latest_tick import latest_tick


def fact_table() -> Table:
    """Return an empty table with two columns, name and value."""
    facts = Table.grid(padding=(0, 2))
    facts.add_column(style="bold", no_wrap=True)
    facts.add_column(overflow="fold")
    return facts


def mode_rows(mode: Mode, controller: str, switch_number: int) -> Table:
    """Show a mode that is in force since the switch of this number."""
    facts = fact_table()
    facts.add_row("mode", Text(mode.name, style="bold cyan"))
    facts.add_row("controller", f"{controller}, switch {switch_number}")
    return facts


def recorded_mode(namespace: str) -> Table | None:
    """Show the mode by the record of a control process of this machine, if there is one.

    It is there at once; statements come when ROS is loaded and has discovered the robot.
    """
    tick = latest_tick(namespace)
    return None if tick is None else mode_rows(tick.mode, tick.controller, tick.switch_number)
