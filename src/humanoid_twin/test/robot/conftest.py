"""A robot's process on a stepped clock."""

import pytest

from humanoid_twin.ethercat.veth import VethError
from humanoid_twin.testing import robot


@pytest.fixture(scope="module")
def stepped(prime_file):
    """One robot for a module, whose time passes by command. Skips where there can be no veth."""
    try:
        with robot(prime_file, clock="stepped") as found:
            yield found
    except VethError as error:
        pytest.skip(str(error))
