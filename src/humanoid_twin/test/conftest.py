"""The description of Prime."""

from functools import cache
from pathlib import Path

import pytest

from prime_description import expand

SOURCES = Path(__file__).resolve().parents[2]
CONFIG = SOURCES / "humanoid_bringup_prime" / "config"
XACRO = SOURCES / "prime_description/robots/prime_dummy/xacro/prime_dummy.urdf.xacro"


@cache
def _prime_urdf() -> str:
    files = {
        "hardware_config": str(CONFIG / "prime_hardware.yaml"),
        "calibration_file": str(CONFIG / "prime_calibration.yaml"),
    }
    return expand(files, XACRO)


@pytest.fixture(scope="session")
def prime_urdf() -> str:
    """The description of Prime of the bring-up."""
    return _prime_urdf()


@pytest.fixture(scope="session")
def prime_file(prime_urdf: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the description as a file."""
    path = tmp_path_factory.mktemp("prime") / "prime.urdf"
    path.write_text(prime_urdf)
    return path
