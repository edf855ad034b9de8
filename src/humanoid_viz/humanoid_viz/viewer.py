"""The viewer without ROS: the page, brought up to date from the board."""

from __future__ import annotations

from humanoid_viz.board import Board
from humanoid_viz.panel import Operator, Panel
from humanoid_viz.scene import RobotScene, furnish
from humanoid_viz.server import PanelServer
from humanoid_viz.state import Flow

# Seconds between updates. Nobody needs more frames; without a browser there is only the
# first picture of the next one to keep fresh.
WATCHED_PERIOD = 1 / 30
UNWATCHED_PERIOD = 0.5


class Viewer:
    """Shows what is on `board` to every browser; hands clicks to `operator`."""

    def __init__(self, server: PanelServer, board: Board, operator: Operator) -> None:
        self._server = server
        self._board = board
        furnish(server)
        self._robot = RobotScene(server.scene)
        self._panel = Panel(server, operator)

    @property
    def period(self) -> float:
        """Seconds until the next update is wanted."""
        return WATCHED_PERIOD if self._server.get_clients() else UNWATCHED_PERIOD

    def update(self, now: float) -> None:
        """Show the state at `now` [s, the board's clock]."""
        snapshot = self._board.snapshot(now)
        positions = {row.name: row.position for row in snapshot.joints if row.position is not None}
        with self._server.atomic():
            live = snapshot.connection.flow is Flow.FLOWING
            self._robot.show(snapshot.model, positions, live=live)
        self._panel.show(snapshot, now)
