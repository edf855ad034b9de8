"""Python's logging in the log of a ROS node."""

import logging

from rclpy.impl.rcutils_logger import RcutilsLogger


class RosLogHandler(logging.Handler):
    """Passes every record to a ROS logger at the same level."""

    def __init__(self, logger: RcutilsLogger) -> None:
        super().__init__()
        self._logger = logger

    def emit(self, record: logging.LogRecord) -> None:
        """See logging.Handler: a record that cannot be logged ends nothing."""
        try:
            # An error of a plug-in may have characters that UTF-8 has not: rclpy refuses them.
            text = self.format(record).encode("utf-8", "replace").decode("utf-8")
            self._log(record.levelno, text)
        except Exception:
            self.handleError(record)

    def _log(self, level: int, text: str) -> None:
        # One call site per severity: rclpy refuses a call site that changes its severity.
        if level >= logging.ERROR:
            self._logger.error(text)
        elif level >= logging.WARNING:
            self._logger.warning(text)
        elif level >= logging.INFO:
            self._logger.info(text)
        else:
            self._logger.debug(text)
