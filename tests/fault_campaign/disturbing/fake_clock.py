"""A system clock that is stepped for some processes only; the clock of the machine is unchanged."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path
from typing import Final

_SOURCE: Final = Path(__file__).with_name("fake_clock.c")


class FakeClock:
    """CLOCK_REALTIME of the processes that are started with `environment`."""

    def __init__(self, folder: Path) -> None:
        """Compile the library with a C compiler. Raises CalledProcessError if that fails."""
        library = folder / "fake_clock.so"
        subprocess.run(
            ["cc", "-O2", "-shared", "-fPIC", "-o", str(library), str(_SOURCE)], check=True
        )
        self._offset = folder / "clock_offset"
        self._offset.write_bytes(bytes(8))
        self.environment = {"LD_PRELOAD": str(library), "FAKE_CLOCK": str(self._offset)}

    def step(self, seconds: int) -> None:
        """Set the difference to the clock of the machine [s]."""
        with self._offset.open("r+b", buffering=0) as file:
            file.write(struct.pack("=q", seconds))
