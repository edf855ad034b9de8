"""Records of Python's logging in the log of a ROS node."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest
from rclpy.logging import get_logger

from humanoid_control_common.middleware.ros_log import RosLogHandler


class _WordlessError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


@pytest.fixture
def logger() -> Iterator[logging.Logger]:
    logger = logging.Logger("plug-in")
    logger.addHandler(RosLogHandler(get_logger("of_the_node")))
    yield logger
    logger.handlers.clear()


def test_characters_that_a_terminal_or_utf_8_has_not_are_escaped(
    logger: logging.Logger, capfd: Any
) -> None:
    error = ValueError("\udce4 wrong \x1b[2J\x9b\u202e\r")
    logger.error("failed", exc_info=error)
    shown = capfd.readouterr().err
    assert "[of_the_node]: failed" in shown
    assert r"ValueError: \udce4 wrong \x1b[2J\x9b\u202e\r" in shown


def test_a_record_that_cannot_be_made_ends_nothing(logger: logging.Logger, capfd: Any) -> None:
    logger.error("%s", _WordlessError())
    logger.warning("the next")
    shown = capfd.readouterr().err
    assert "RuntimeError: no words" in shown
    assert "[of_the_node]: the next" in shown
