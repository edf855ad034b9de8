"""What tests of several packages share."""

from __future__ import annotations

import os
import random
from typing import Final

DOMAINS: Final = range(1, 102)  # these leave the ports of other programs alone


def own_domains() -> list[int]:
    """ROS domains for what tests of this process start, in random order.

    Of pytest-xdist's workers, which run side by side, each has its own: what one of them starts
    never meets what another one has started.
    """
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    domains = DOMAINS[worker::workers]
    return random.sample(domains, len(domains))
