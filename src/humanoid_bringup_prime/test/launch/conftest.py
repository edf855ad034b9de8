"""Let launch_testing run the files test_*_launch.py of this folder, each as one test.

The plugin of launch_testing for pytest is not used: it imports every test module of the workspace
by the name of its file, and several files have the same name.
`PYTHONPATH=tests:$PYTHONPATH launch_test FILE` runs these files, too.
"""

from __future__ import annotations

import gc
import importlib.util
import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from test_support.ros.ros_domains import on_reserved_domain

# Where the launch system is required, its tests must not be skipped.
REQUIRED = os.environ.get("HUMANOID_REQUIRE_LAUNCH") == "1"
ENDING = "_launch.py"
MISSING = "the launch system is not installed (launch, launch_ros, launch_testing)"


def _is_missing() -> bool:
    return any(
        importlib.util.find_spec(name) is None
        for name in ("launch", "launch_ros", "launch_testing")
    )


def pytest_pycollect_makemodule(
    module_path: Path, parent: pytest.Collector
) -> pytest.Collector | None:
    """A file of launch_testing has no test functions for pytest."""
    if not module_path.name.endswith(ENDING):
        return None
    return LaunchTestFile.from_parent(parent, path=module_path)


class LaunchTestFile(pytest.File):
    def collect(self) -> Iterator[pytest.Item]:
        yield LaunchTest.from_parent(self, name=self.path.stem)


class LaunchTest(pytest.Item):
    def runtest(self) -> None:
        if _is_missing():
            (pytest.fail if REQUIRED else pytest.skip)(MISSING)
        from launch_testing.loader import LoadTestsFromPythonModule
        from launch_testing.test_runner import LaunchTestRunner

        with on_reserved_domain():
            module = _imported(self.path)
            if reason := getattr(module, "SKIPPED", ""):
                pytest.skip(reason)
            runner = LaunchTestRunner(LoadTestsFromPythonModule(module, name=self.name))
            runner.validate()
            with warnings.catch_warnings():  # launch leaves its sockets to the garbage collector
                warnings.simplefilter("ignore", ResourceWarning)
                results = runner.run().values()
                gc.collect()
        assert results, "no test was run"
        for result in results:
            failed = [text for _, text in [*result.errors, *result.failures]]
            assert result.wasSuccessful(), "\n".join(failed) or "the launch ended too soon"
            assert result.testsRun > 0

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, self.name


def _imported(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
