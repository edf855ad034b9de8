"""The description of the source tree, expanded once per back end."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import pytest

from prime_description import expand

PACKAGE = Path(__file__).resolve().parents[1]
CONFIG = PACKAGE.parent / "humanoid_bringup_prime" / "config"
XACRO = PACKAGE / "robots/prime_dummy/xacro/prime_dummy.urdf.xacro"
BACK_ENDS: dict[str, dict[str, str]] = {
    "real": {"use_sim": "false", "use_fake_hardware": "false"},
    "real ec": {"backends": "ec"},
    "real can": {"backends": "can"},
    "sim": {"use_sim": "true", "use_fake_hardware": "false"},
    "mock": {"use_sim": "false", "use_fake_hardware": "true"},
    "sim wins": {"use_sim": "true", "use_fake_hardware": "true"},
}


def expand_source(**mappings: str) -> str:
    """URDF from the source tree, with the hardware and calibration files of the source tree."""
    files = {
        "hardware_config": str(CONFIG / "prime_hardware.yaml"),
        "calibration_file": str(CONFIG / "prime_calibration.yaml"),
    }
    return expand(files | mappings, XACRO)


@cache
def _back_end(name: str) -> str:
    return expand_source(**BACK_ENDS[name])


@pytest.fixture(scope="session")
def xacro_file() -> Path:
    return XACRO


@pytest.fixture(scope="session")
def config_folder() -> Path:
    return CONFIG


@pytest.fixture(scope="session")
def expand_with() -> Callable[..., str]:
    """Expands the source tree with the given arguments."""
    return expand_source


@pytest.fixture(scope="session")
def urdf_text() -> Callable[[str], str]:
    """URDF text of a back end, a key of BACK_ENDS."""
    return _back_end


@pytest.fixture(scope="session")
def urdf() -> Callable[[str], ElementTree.Element]:
    """Parsed URDF of a back end."""
    return lambda name: ElementTree.fromstring(_back_end(name))
