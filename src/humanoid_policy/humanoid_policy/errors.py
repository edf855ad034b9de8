"""Errors of policies: refused at loading, or ended while running."""

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.rules.reasons import ReasonedError


class PolicyRefusedError(ConfigError):
    """A model or its metadata is wrong. The text names file, key, joint, found and expected."""


class PolicyFailedError(ReasonedError):
    """A policy that runs must end: its action must not be followed."""
