"""Benchmarks of the workspace: python -m benchmarks.control.control_cycle, for instance."""

import sys
from pathlib import Path

# Benchmarks share machines, robots and fixtures with the tests.
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
