"""Whether this machine is ready for a bring-up: asked before anything is started."""

from __future__ import annotations

from pathlib import Path

from ament_index_python.packages import get_package_share_directory

from humanoid_bringup_prime.machine.buses import require_buses
from humanoid_bringup_prime.machine.gamepad import require_joystick
from humanoid_bringup_prime.options import Options


def require_machine(options: Options) -> list[str]:
    """What isn't as it should be with this machine, though it will do for `options`.

    Raises ConfigError, with all that is missing, if it won't do.
    """
    if options.enable_gamepad:
        require_joystick(options.joystick)
    share = Path(get_package_share_directory("humanoid_bringup_prime"))
    return require_buses(options, options.hardware_config or share / "config/prime_hardware.yaml")
