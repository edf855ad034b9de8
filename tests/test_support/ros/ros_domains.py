"""ROS domains for tests: each test run has one that no other program is on."""

import os
import random
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Final

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.domain_lock import take_domain_lock

DOMAINS: Final = range(1, 102)  # these leave the ports of other programs alone


@contextmanager
def reserved_domain() -> Iterator[int]:
    """Reserve a ROS domain that no other test has and no robot of this user is on.

    It is free again after the context, or when this process and its copies (fork) have ended;
    programs that this process starts do not hold it. Raises ConfigError if no domain is free.
    """
    domain, reservation = _reserve()
    with reservation:
        yield domain


@contextmanager
def on_reserved_domain() -> Iterator[int]:
    """Be on a reserved ROS domain, on this machine only, with all programs started from now on."""
    with reserved_domain() as domain, _on(domain):
        yield domain


def _reserve() -> tuple[int, ExitStack]:
    # At random: the domain that became free last may still have messages on their way.
    for domain in random.sample(DOMAINS, len(DOMAINS)):
        with suppress(ConfigError), _on(domain), ExitStack() as held:
            held.enter_context(take_domain_lock("test"))
            take_domain_lock().close()  # no robot is on it
            return domain, held.pop_all()
    raise ConfigError("tests or robots are on all ROS domains from 1 to 101: end some of them")


@contextmanager
def _on(domain: int) -> Iterator[None]:
    settings = {"ROS_DOMAIN_ID": str(domain), "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
    before = {name: os.environ.pop(name) for name in settings if name in os.environ}
    os.environ.update(settings)
    try:
        yield
    finally:
        for name in settings:
            os.environ.pop(name, None)
        os.environ.update(before)
