"""The operator panel: buttons, and the HTML of page.py around them."""

from collections.abc import Callable, Coroutine
from functools import partial
from importlib.resources import files
from typing import Any, Protocol

import viser

from humanoid_control_common.rules.modes import Mode
from humanoid_viz.page import page
from humanoid_viz.state.state import Snapshot, StreamState

WIDTH = 470  # [px]
# [s] between changes of the panel's texts; faster ones can't be read.
TEXT_PERIOD = 0.2
# [s] between the viewer's signs of life; panel.css waits for three of them.
BEAT_PERIOD = 1.0

LABELS = {
    Mode.DAMPING: "DAMPING",
    Mode.ZERO_TORQUE: "ZERO TORQUE",
    Mode.STANDBY: "LOAD → STANDBY",
    Mode.LOCOMOTION: "START LOCOMOTION",
    Mode.REMOTE: "START REMOTE",
}
STOP_LABEL = "STOP"
STOP_HINT = "DAMPING from any mode, until CLEAR FAULT. In software: it does not cut the power"
HINTS = {
    Mode.DAMPING: "From any mode. Every joint is braked and soft. Key: Escape",
    Mode.ZERO_TORQUE: "From DAMPING. No torque at all: the arms fall",
    Mode.STANDBY: "From DAMPING. Moves to the ready pose",
    Mode.LOCOMOTION: "From STANDBY at the ready pose",
    Mode.REMOTE: "From STANDBY at the ready pose",
}


class Operator(Protocol):
    """Carries out the clicks; called from viser's threads."""

    def request_mode(self, mode: Mode) -> None:
        """Request `mode` from the mode manager."""

    def clear_fault(self) -> None:
        """Request the mode manager to clear a fault."""

    def emergency_stop(self) -> None:
        """Stop: DAMPING from any mode, until a fault is cleared."""


class Panel:
    """The panel, docked to the right of the 3-D view."""

    def __init__(self, server: viser.ViserServer, operator: Operator) -> None:
        gui = server.gui
        gui.configure_theme(dark_mode=True, show_logo=False, show_share_button=False)
        gui.main_panel.dock_right()
        gui.main_panel.set_width(WIDTH)
        style = files(__package__).joinpath("panel.css").read_text(encoding="utf-8")
        gui.add_html(f'<span class="hc-root"></span><style>{style}</style>')
        self._beat = gui.add_html("")
        self._header = gui.add_html("")
        self._modes = self._add_buttons(gui, operator)
        self._answer = gui.add_html("")
        self._safety = gui.add_html("")
        self._notices = gui.add_html("")
        self._table = gui.add_html("")
        self._text_due = self._beat_due = 0.0
        self._beats = 0

    def _add_buttons(self, gui: viser.GuiApi, operator: Operator) -> dict[Mode, Any]:
        """Add the buttons; panel.css finds each by the marker before it."""
        gui.add_html('<span class="hc-before-STOP"></span>')
        stop = gui.add_button(STOP_LABEL, hint=STOP_HINT, color="red")
        stop.on_click(_at_once(operator.emergency_stop))
        buttons = {}
        for mode, label in LABELS.items():
            gui.add_html(f'<span class="hc-before-{mode.name}"></span>')
            buttons[mode] = gui.add_button(label, hint=HINTS[mode], color="gray")
            buttons[mode].on_click(_at_once(partial(operator.request_mode, mode)))
        gui.add_html('<span class="hc-before-CLEAR_FAULT"></span>')
        clear = gui.add_button("CLEAR FAULT", hint="Resets drive faults", color="gray")
        clear.on_click(_at_once(operator.clear_fault))
        soft = gui.add_command("DAMPING", description=HINTS[Mode.DAMPING], hotkey="escape")
        soft.on_trigger(_at_once(partial(operator.request_mode, Mode.DAMPING)))
        return buttons

    def show(self, snapshot: Snapshot, now: float) -> None:
        """Update the texts at `now` [s], if they are due."""
        if now >= self._beat_due:
            self._beat_due = now + BEAT_PERIOD
            self._beats += 1
            self._beat.content = page.beat_html(self._beats)
        if now < self._text_due:
            return
        self._text_due = now + TEXT_PERIOD
        # viser sends only changes.
        self._header.content = page.header_html(snapshot)
        self._answer.content = page.answer_html(snapshot)
        self._safety.content = page.safety_html(snapshot)
        self._notices.content = page.notices_html(snapshot)
        self._table.content = page.table_html(snapshot)
        self._mark_mode_in_force(snapshot)

    def _mark_mode_in_force(self, snapshot: Snapshot) -> None:
        statement = snapshot.mode.statement if snapshot.mode.flow is StreamState.FLOWING else None
        for mode, button in self._modes.items():
            if mode is not Mode.DAMPING:  # whose colour is panel.css's
                in_force = statement is not None and statement.mode == mode
                button.color = "blue" if in_force else "gray"


def _at_once(action: Callable[[], None]) -> Callable[[object], Coroutine[Any, Any, None]]:
    """Return a callback that viser runs in its event loop, in the order of the clicks."""

    async def act(_: object) -> None:
        action()

    return act
