"""Robots that each test copies, so that all tests begin with the same robot."""

from __future__ import annotations

import gc

import pytest
from test_support.controllers import write_controllers
from test_support.stepped.imports_in_ticks import ImportsInTicks
from test_support.stepped.prime import Prime
from test_support.stepped.stack import Stack

from humanoid_stepped.copies import CopyError, in_copy
from humanoid_stepped.python_log import PythonLog

STANDBY_WAY = 1.0  # [s] of each of its two motions: 3 and 2 with the controllers of the bring-up


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Prime:
    """Prime without running processes."""
    folder = tmp_path_factory.mktemp("built")
    prime = Prime(folder, controllers_file=write_controllers(folder, STANDBY_WAY))
    _freeze()
    return prime


@pytest.fixture(scope="session")
def prime(tmp_path_factory: pytest.TempPathFactory) -> Prime:
    """Prime, up and in DAMPING."""
    folder = tmp_path_factory.mktemp("prime")
    prime = Prime(folder, controllers_file=write_controllers(folder, STANDBY_WAY))
    with PythonLog(prime.robot):
        prime.up()
        prime.damped()
    _freeze()
    return prime


@pytest.fixture(scope="session")
def lite(tmp_path_factory: pytest.TempPathFactory) -> Stack:
    """Lite, up and in DAMPING."""
    folder = tmp_path_factory.mktemp("lite")
    file = write_controllers(folder, STANDBY_WAY, "lite")
    lite = Stack(folder, robot="lite", controllers_file=file)
    with PythonLog(lite.robot):
        lite.up()
        lite.damped()
    _freeze()
    return lite


@pytest.fixture(params=["prime", "lite"])
def any_robot(request: pytest.FixtureRequest) -> Stack:
    """Each robot, up and in DAMPING."""
    found: Stack = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def imports_in_ticks(monkeypatch: pytest.MonkeyPatch) -> ImportsInTicks:
    """Imports that ticks of the control loop execute from now on."""
    return ImportsInTicks(monkeypatch)


def _freeze() -> None:
    gc.collect()
    gc.freeze()  # later collections of this process leave the robot out


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run tests of such a robot on a copy of this process."""
    names = pyfuncitem._fixtureinfo.argnames
    robots = [it for name in names if isinstance(it := pyfuncitem.funcargs[name], Stack)]
    if not robots:
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in names}

    def run() -> str:
        try:
            with PythonLog(robots[0].robot):
                pyfuncitem.obj(**arguments)
        except BaseException:
            return str(pyfuncitem.repr_failure(pytest.ExceptionInfo.from_current()))
        return ""

    try:
        failure = in_copy(run)
    except CopyError as error:
        failure = str(error)
    if failure:
        pytest.fail(failure, pytrace=False)
    return True
