"""Replay a bag together with the viewer."""

import math
import sys

from humanoid_bringup.supervision.processes import Command
from humanoid_bringup.viewers.viewer_processes import ViewerAddress
from humanoid_control_cli.bag.replay import Options
from humanoid_control_cli.up.viewer_beside import show


def show_replay(options: Options, address: ViewerAddress) -> int:
    """Run the viewer and `hc replay` until one of them ends. Returns the exit code.

    Raises ConfigError if the viewer is not installed.
    """
    words = [sys.executable, "-m", "humanoid_control_cli.main", "replay", str(options.path)]
    words += ["--rate", str(options.rate)]
    words += ["--loop"] if options.loop else []
    words += ["--stay"] if options.stay else []
    words += [] if options.until == math.inf else ["--until", str(options.until)]
    return show(address, Command("replay", tuple(words)))
