"""Python's logging in the log of a ROS node."""

import logging

from rclpy.impl.rcutils_logger import RcutilsLogger

from humanoid_control_common.machine.output import printable


class RosLogHandler(logging.Handler):
    """Passes every record to a ROS logger at the same level."""

    def __init__(self, logger: RcutilsLogger) -> None:
        super().__init__()
        self._logger = logger

    def emit(self, record: logging.LogRecord) -> None:
        """See logging.Handler: a record that cannot be logged ends nothing."""
        try:
            # Also characters that UTF-8 has not, as of a plug-in's error: rclpy refuses them.
            self._log(record.levelno, printable(self.format(record)))
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
