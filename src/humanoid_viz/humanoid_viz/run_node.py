"""Runs the viewer node and its page until told to stop."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import rclpy
from rclpy.exceptions import ParameterException
from rclpy.executors import SingleThreadedExecutor
from rclpy.signals import SignalHandlerOptions
from rclpy.utilities import get_rmw_implementation_identifier

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.middleware import tune_middleware
from humanoid_control_common.waking import kept_awake
from humanoid_viz.board import Board
from humanoid_viz.node import RosLog, ViewerNode
from humanoid_viz.page_token import Token, token_for
from humanoid_viz.ports import free_port, url
from humanoid_viz.server import PanelServer
from humanoid_viz.viewer import Viewer
from humanoid_viz.waker import Waker

# A browser that no longer answers must not hold up the exit [s].
SERVER_STOP_TIMEOUT = 0.5
# Longest wait of the executor [s]: the end of the program waits for it.
SPIN_TIMEOUT = 0.1


def run(waker: Waker, arguments: Sequence[str] | None) -> int:
    """Show the robot until `waker` is told to stop. Returns the exit code."""
    tune_middleware(get_rmw_implementation_identifier())
    rclpy.init(args=arguments, signal_handler_options=SignalHandlerOptions.NO)
    board = Board()
    node = ViewerNode(board)
    logger = logging.getLogger("humanoid_viz")
    logger.addHandler(RosLog(node))
    logger.setLevel(logging.INFO)
    try:
        with spinning(node, waker):
            _show(node, board, waker)
    except (ConfigError, ParameterException) as error:
        node.get_logger().fatal(str(error))
        return 1
    finally:
        node.destroy_node()
        rclpy.try_shutdown()
    return 0


def _show(node: ViewerNode, board: Board, waker: Waker) -> None:
    host, wanted = node.address()
    port = free_port(host, wanted)
    if port != wanted:
        node.get_logger().warning(f"port {wanted} is taken, using {port}")
    token = token_for(host, node.token_file())
    with _listening(host, port, token) as server:
        server.on_client_connect(lambda _: waker.wake())
        viewer = Viewer(server, board, node)
        node.get_logger().info(f"viewer: {_address(url(host, server.get_port()), token)}")
        while not waker.stopping:
            node.poll()
            viewer.update(time.monotonic())
            waker.sleep(viewer.period)


def _address(base: str, token: Token | None) -> str:
    """What an operator opens; a token that has a file of its own stays out of the log."""
    if token is None:
        return base
    return f"{base} with the token of {token.source}" if token.source else token.in_url(base)


@contextmanager
def spinning(node: ViewerNode, waker: Waker) -> Iterator[None]:
    """Executes the node's callbacks in a thread of their own; what they raise is raised here."""
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    ended = threading.Event()
    failures: list[BaseException] = []  # at most one

    def spin() -> None:
        try:
            while not ended.is_set():
                executor.spin_once(timeout_sec=SPIN_TIMEOUT)
        except BaseException as error:
            failures.append(error)
            waker.stop()

    thread = threading.Thread(target=spin, name="ros")
    thread.start()
    try:
        with kept_awake(executor):
            yield
    finally:
        ended.set()
        thread.join()
        executor.shutdown()  # not before: what a spinning executor waits for must stay
    if failures:
        raise failures[0]


@contextmanager
def _listening(host: str, port: int, token: Token | None) -> Iterator[PanelServer]:
    server = PanelServer(host, port, "Prime", token)
    try:
        yield server
    finally:
        stopping = threading.Thread(target=server.stop, name="server stop", daemon=True)
        stopping.start()
        stopping.join(SERVER_STOP_TIMEOUT)
