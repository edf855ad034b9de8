"""Interrupt tasks between any two statements of the product, as the kernel interrupts threads.

Without it a task runs until it waits. A thread can be interrupted earlier: another one may run
between any two of its statements. `instrument` inserts a call before every statement of the
product's functions when their modules are imported. Now and then this call lets the other tasks run
first; the seed decides where. Locks of the product become locks of tasks.

This module imports no module of the product: modules imported before `instrument` are not
interrupted.
"""

from __future__ import annotations

import ast
import builtins
import sys
import threading
from collections.abc import Callable, Sequence
from functools import wraps
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from random import Random
from types import CodeType, ModuleType
from typing import Any, Final, ParamSpec, TypeVar

from humanoid_stepped.scheduler import Scheduler

OWN: Final = "humanoid_"  # begin of the names of the product's packages
# What is no task on the robot: this package, the virtual robot, and generated messages.
LEFT_OUT: Final = ("humanoid_stepped", "humanoid_twin", "_msgs")
MEAN: Final = 300  # statements of the product between two interruptions; a tick has about 600
# How long an interruption lasts [s], at most, and the share of those that last no longer. The
# latency of the scheduler comes on top.
LONGEST: Final = 0.0015
LENGTHS: Final = ((0.4, 0.0), (0.9, 0.0002), (1.0, LONGEST))
# Tasks that may be interrupted for longer: no joint waits for them, and the loop runs meanwhile.
LONG_INTERRUPTED: Final = frozenset({"main", "publisher", "services", "wake"})
LONG_SHARE, LONG = 0.05, 0.04  # of their interruptions; [s] at most
CHECK_PERIOD: Final = 20e-6  # [s] between two checks of a lock that another task holds
_CALL: Final = "__before_statement__"  # a builtin, so that no module must import it
Given = ParamSpec("Given")
Found = TypeVar("Found")
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def is_product(package: str) -> bool:
    """Return whether tasks run code of this package."""
    return package.startswith(OWN) and not package.endswith(LEFT_OUT)


def instrument(is_chosen: Callable[[str], bool] = is_product) -> None:
    """Have tasks be interrupted in the chosen packages.

    Raises RuntimeError if one of them is imported already.
    """
    if known := sorted(name for name in sys.modules if "." not in name and is_chosen(name)):
        raise RuntimeError(f"already imported, so not interrupted: {', '.join(known)}")
    setattr(builtins, _CALL, _not_counted)
    sys.meta_path.insert(0, _Finder(is_chosen))


def is_instrumented() -> bool:
    """Return whether tasks may be interrupted in this process."""
    return hasattr(builtins, _CALL)


def uninterrupted(function: Callable[Given, Found]) -> Callable[Given, Found]:
    """Return `function` for a program that observes the tasks: its statements do not count.

    A run with the observer is interrupted in the same places as one without it.
    """

    @wraps(function)
    def observed(*arguments: Given.args, **named: Given.kwargs) -> Found:
        if not is_instrumented():
            return function(*arguments, **named)
        counts = getattr(builtins, _CALL)
        setattr(builtins, _CALL, _not_counted)
        try:
            return function(*arguments, **named)
        finally:
            setattr(builtins, _CALL, counts)

    return observed


def _not_counted() -> None:
    """Count no statement."""


class Preemption:
    """Interrupts the tasks of a scheduler. One in a process, which must be instrumented."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._random = Random(0)
        self._left = 1  # statements until the next one
        setattr(builtins, _CALL, self._before_statement)
        TaskLock.scheduler = scheduler

    def seed(self, seed: str) -> None:
        """Decide all interruptions from now on."""
        self._random.seed(seed)
        self._left = self._drawn()

    def _drawn(self) -> int:
        return 1 + int(self._random.expovariate(1.0 / MEAN))

    def _before_statement(self) -> None:
        self._left -= 1
        if self._left <= 0:
            self._interrupt()

    def _interrupt(self) -> None:
        self._left = self._drawn()
        task = self._scheduler.current
        if task is None:  # code of a test, between two tasks
            return
        share = self._random.random()
        longest = next(length for up_to, length in LENGTHS if share < up_to)
        if task.name in LONG_INTERRUPTED and self._random.random() < LONG_SHARE:
            longest = LONG
        self._scheduler.wait(None, self._random.random() * longest)


class TaskLock:
    """A Lock of tasks: one that waits for it lets the task run that holds it."""

    scheduler: Scheduler | None = None

    def __init__(self) -> None:
        self._held = False

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """See Lock. Raises RuntimeError between two tasks if one of them holds it."""
        while self._held:
            if not blocking:
                return False
            if timeout >= 0:
                raise NotImplementedError("no lock of the product is waited for with a timeout")
            if self.scheduler is None or self.scheduler.current is None:
                raise RuntimeError("a task that was interrupted holds this lock")
            self.scheduler.wait(None, CHECK_PERIOD)
        self._held = True
        return True

    def release(self) -> None:
        """See Lock."""
        if not self._held:
            raise RuntimeError("release unlocked lock")
        self._held = False

    def locked(self) -> bool:
        """See Lock."""
        return self._held

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()


class _Finder(MetaPathFinder):
    def __init__(self, is_chosen: Callable[[str], bool]) -> None:
        self._is_chosen = is_chosen

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """See MetaPathFinder."""
        if not self._is_chosen(name.partition(".")[0]):
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and type(spec.loader) is SourceFileLoader:
            spec.loader = _Loader(spec.loader.name, spec.loader.path)
        return spec


class _Loader(SourceFileLoader):
    def get_code(self, fullname: str) -> CodeType:
        """See SourceFileLoader. The files of compiled code are neither read nor written."""
        path = self.get_filename(fullname)
        tree = ast.parse(self.get_data(path), path)
        _insert_into(tree, inside=False)
        return compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)

    def exec_module(self, module: ModuleType) -> None:
        """See SourceFileLoader."""
        super().exec_module(module)
        names = vars(module)
        if names.get("threading") is threading:
            names["threading"] = _THREADING
        if names.get("Lock") is threading.Lock:
            names["Lock"] = TaskLock


def _insert_into(node: ast.AST, *, inside: bool) -> None:
    """Insert a call before every statement in functions of `node`; `inside`: it is in one."""
    for field, value in ast.iter_fields(node):
        if not isinstance(value, list):
            continue
        for child in value:
            if isinstance(child, ast.AST):
                within = isinstance(child, _Function) or (
                    inside and not isinstance(child, ast.ClassDef)
                )
                _insert_into(child, inside=within)
        if inside and value and isinstance(value[0], ast.stmt):
            setattr(node, field, [it for child in value for it in _with_call(child)])


def _with_call(statement: ast.stmt) -> list[ast.stmt]:
    """Return the statement and the call before it; a declaration and a text alone."""
    text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    if text or isinstance(statement, ast.Global | ast.Nonlocal):
        return [statement]
    call = ast.Expr(ast.Call(ast.Name(_CALL, ast.Load()), [], []))
    return [ast.copy_location(call, statement), statement]


def _threading_of_tasks() -> Any:
    """Return the module threading, with a Lock of tasks."""
    found = ModuleType("threading")
    vars(found).update(vars(threading))
    vars(found)["Lock"] = TaskLock
    return found


_THREADING: Final = _threading_of_tasks()
