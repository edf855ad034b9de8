"""Run the viewer node and its page."""

import logging
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rclpy.exceptions import ParameterException
from rclpy.executors import SingleThreadedExecutor

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.middleware.executor_wakeup import kept_awake
from humanoid_control_common.middleware.ros_context import ros_node
from humanoid_control_common.middleware.ros_log import RosLogHandler
from humanoid_viz.nodes.interruptible_sleep import InterruptibleSleep
from humanoid_viz.nodes.viewer_node import ViewerNode
from humanoid_viz.page.page_token import Token, token_for
from humanoid_viz.page.ports import free_port, url
from humanoid_viz.page.server import PanelServer
from humanoid_viz.page.viewer import Viewer
from humanoid_viz.state.latest_messages import LatestMessages

# [s] at the exit for browsers that no longer answer.
SERVER_STOP_TIMEOUT = 0.5
# [s] longest wait of the executor: the program's end waits for it.
SPIN_TIMEOUT = 0.1


def run(sleeper: InterruptibleSleep, arguments: Sequence[str] | None) -> int:
    """Show the robot until `sleeper` is stopped. Return the exit code."""
    messages = LatestMessages()
    with ros_node(lambda: ViewerNode(messages), arguments) as node:
        logger = logging.getLogger("humanoid_viz")
        logger.addHandler(RosLogHandler(node.get_logger()))
        logger.setLevel(logging.INFO)
        try:
            with spinning(node, sleeper):
                _show(node, messages, sleeper)
        except (ConfigError, ParameterException) as error:
            node.get_logger().fatal(str(error))
            return 1
    return 0


def _show(node: ViewerNode, messages: LatestMessages, sleeper: InterruptibleSleep) -> None:
    host, wanted = node.address()
    port = free_port(host, wanted)
    if port != wanted:
        node.get_logger().warning(f"port {wanted} is taken, using {port}")
    token = token_for(host, node.token_file())
    with _listening(host, port, node.title(), token) as server:
        server.on_client_connect(lambda _: sleeper.wake())
        viewer = Viewer(server, messages, node)
        node.get_logger().info(f"viewer: {_address(url(host, server.get_port()), token)}")
        while not sleeper.stopping:
            node.poll()
            viewer.update(time.monotonic())
            sleeper.sleep(viewer.period)


def _address(base: str, token: Token | None) -> str:
    """Return the address for operators; a token from a file stays out of the log."""
    if token is None:
        return base
    return f"{base} with the token of {token.source}" if token.source else token.in_url(base)


@contextmanager
def spinning(node: ViewerNode, sleeper: InterruptibleSleep) -> Iterator[None]:
    """Execute the node's callbacks in a thread, and raise their errors here."""
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    ended = threading.Event()
    failures: list[BaseException] = []  # at most one

    def spin() -> None:
        try:
            while not ended.is_set():
                executor.spin_once(timeout_sec=SPIN_TIMEOUT)
                node.run_actions()
        except BaseException as error:
            failures.append(error)
            sleeper.stop()

    thread = threading.Thread(target=spin, name="ros")
    thread.start()
    try:
        with kept_awake(executor.wake):
            yield
    finally:
        ended.set()
        thread.join()
        executor.shutdown()  # not before: a spinning executor's wait set must stay
    if failures:
        raise failures[0]


@contextmanager
def _listening(host: str, port: int, title: str, token: Token | None) -> Iterator[PanelServer]:
    server = PanelServer(host, port, title, token)
    try:
        yield server
    finally:
        stopping = threading.Thread(target=server.stop, name="server stop", daemon=True)
        stopping.start()
        stopping.join(SERVER_STOP_TIMEOUT)
