"""Python's `logging` of the ROS-free cores, forwarded to ROS."""

from __future__ import annotations

import logging

from rclpy.impl.rcutils_logger import RcutilsLogger


class RosLogHandler(logging.Handler):
    """Hands every record to a ROS logger at the same level."""

    def __init__(self, logger: RcutilsLogger) -> None:
        super().__init__()
        self._logger = logger

    def emit(self, record: logging.LogRecord) -> None:
        """See logging.Handler."""
        text = self.format(record)
        # Four call sites on purpose: rclpy remembers the severity of each and refuses another.
        if record.levelno >= logging.ERROR:
            self._logger.error(text)
        elif record.levelno >= logging.WARNING:
            self._logger.warning(text)
        elif record.levelno >= logging.INFO:
            self._logger.info(text)
        else:
            self._logger.debug(text)


def forward_logging(logger: RcutilsLogger) -> None:
    """Send all of Python's logging from INFO on to `logger`."""
    root = logging.getLogger()
    root.handlers = [RosLogHandler(logger)]
    root.setLevel(logging.INFO)
