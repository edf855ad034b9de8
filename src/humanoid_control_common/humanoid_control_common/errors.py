"""The errors of the stack. Messages have the place, the found and the expected value."""


class RobotError(Exception):
    """Root of every error the stack raises on purpose."""


class ConfigError(RobotError):
    """A file, parameter, URDF or plugin name is wrong. Raised before anything moves."""


class ControllerError(RobotError):
    """A controller could not be activated or failed while running."""


class HardwareError(RobotError):
    """A hardware component could not be activated, read or written."""


class SwitchRefusedError(RobotError):
    """A change of the active mode controller was refused; the one in force stays."""
