"""The viewer without ROS: the page, updated from the latest messages."""

from humanoid_viz.page.panel import Operator, Panel
from humanoid_viz.page.scene import RobotScene, furnish
from humanoid_viz.page.server import PanelServer
from humanoid_viz.state.latest_messages import LatestMessages
from humanoid_viz.state.state import StreamState

# [s] between updates. Without a browser they keep the first picture of the next one fresh.
WATCHED_PERIOD = 1 / 30
UNWATCHED_PERIOD = 0.5


class Viewer:
    """Shows `messages` in every browser; hands clicks to `operator`."""

    def __init__(self, server: PanelServer, messages: LatestMessages, operator: Operator) -> None:
        self._server = server
        self._messages = messages
        furnish(server)
        self._robot = RobotScene(server.scene, server.initial_camera)
        self._panel = Panel(server, operator)

    @property
    def period(self) -> float:
        """Time until the next update [s]."""
        return WATCHED_PERIOD if self._server.get_clients() else UNWATCHED_PERIOD

    def update(self, now: float) -> None:
        """Show the state at `now` [s, the messages' clock]."""
        snapshot = self._messages.snapshot(now)
        positions = {row.name: row.position for row in snapshot.joints if row.position is not None}
        with self._server.atomic():
            live = snapshot.connection.flow is StreamState.FLOWING
            self._robot.show(snapshot.model, positions, live=live)
        self._panel.show(snapshot, now)
