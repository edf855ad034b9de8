"""A robot's process on a stepped clock."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from humanoid_twin.errors import VethError
from humanoid_twin.testing import Robot, robot


@pytest.fixture(scope="module")
def stepped(prime_file: Path) -> Iterator[Robot]:
    """One robot for a module, with stepped time. Skips if no veth pair can be made."""
    try:
        with robot(prime_file, clock="stepped") as found:
            yield found
    except VethError as error:
        pytest.skip(str(error))
