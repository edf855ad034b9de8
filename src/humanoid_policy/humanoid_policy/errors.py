"""Why a policy is refused."""

from humanoid_control_common.errors import ConfigError


class PolicyRefusedError(ConfigError):
    """A model or its metadata is wrong. The text names file, key, joint, found and expected."""
