"""What can be done to a controller beside switching: load, configure, clean up, unload.

Imports, `on_configure` and the making of topics run in the caller's thread and may take their time;
everything that changes what is in use runs in the executor's, in one piece.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from humanoid_control_common.errors import ControllerError
from humanoid_controller_manager.controller import RobotFacts
from humanoid_controller_manager.loading import ChecksGains, configured_instance, import_controller
from humanoid_controller_manager.parameters import ControllerEntry
from humanoid_controller_manager.registry import Configured, Record, Registry, Side, State
from humanoid_controller_manager.slots import ControllerSlot

T = TypeVar("T")


class InExecutor(Protocol):
    """Has a function run in the executor's thread and gives its result, or raises what it did."""

    def __call__(self, function: Callable[[], T], /) -> T:
        """Run it."""


class Surroundings(Protocol):
    """Where controllers get their parameters and topics from."""

    def entry(self, name: str) -> ControllerEntry:
        """What the manager's parameters say of `name`. Raises ConfigError.

        Called in the executor's thread.
        """

    def open(self, name: str, entry: ControllerEntry) -> Side:
        """The ROS side of a controller that is about to be configured. Raises ConfigError."""


@dataclass(frozen=True, slots=True)
class Lifecycle:
    """The verbs; called by one thread. Errors are ControllerError and ConfigError.

    What fails leaves the controller as it was: one that is configured anew keeps its old instance.
    """

    registry: Registry
    surroundings: Surroundings
    robot: RobotFacts
    hardware: ChecksGains
    asked_for: Callable[[], str]  # the controller a switch is on its way to
    in_executor: InExecutor

    def bring_up(self, entries: Mapping[str, ControllerEntry]) -> None:
        """Load and configure all, in their order; broadcasters become active. Nothing runs yet."""
        for name, entry in entries.items():
            self._add(name, entry)
            self.configure(name)
        broadcasters = [r.name for r in self.registry.records.values() if r.mode is None]
        self.registry.broadcast(on=broadcasters, off=())

    def load(self, name: str) -> None:
        """Nothing -> unconfigured."""
        if name in self.registry.records:
            raise ControllerError(f"A controller named '{name}' was already loaded")
        self._add(name, self.in_executor(lambda: self.surroundings.entry(name)))

    def configure(self, name: str) -> None:
        """Unconfigured or inactive -> inactive, with the parameters of now."""
        record = self.in_executor(lambda: self._configurable(name))
        side = self.surroundings.open(name, record.entry)
        try:
            configured = self._configured(record, side)
            self.in_executor(lambda: self._replace(record, configured))
        except BaseException:
            self.in_executor(side.close)
            raise

    def cleanup(self, name: str) -> None:
        """Inactive -> unconfigured; nothing to do for an unconfigured one."""
        self.in_executor(lambda: self._clean(self.registry.get(name, "cleanup")))

    def unload(self, name: str) -> None:
        """Inactive or unconfigured -> nothing."""

        def do() -> None:
            record = self.registry.get(name, "unload")
            if self.registry.state(record) is State.ACTIVE:
                raise ControllerError(
                    f"Could not unload controller with name '{name}' because it is still active"
                )
            self._clean(record)
            self.registry.remove(name)

        self.in_executor(do)

    def _add(self, name: str, entry: ControllerEntry) -> None:
        plugin = import_controller(name, entry.type)
        self.in_executor(lambda: self.registry.put(Record(name, entry, plugin)))

    def _configured(self, record: Record, side: Side) -> Configured:
        instance = configured_instance(
            record.name, record.plugin, side.document, self.robot, self.hardware
        )
        listener = side.attach(record.entry.type, instance)
        if record.mode is None:
            return Configured(instance, side, None, listener)
        fallbacks = tuple(record.entry.fallback_controllers)
        slot = ControllerSlot(record.name, instance, fallbacks)
        return Configured(instance, side, slot, listener)

    # In the executor's thread.

    def _configurable(self, name: str) -> Record:
        record = self.registry.get(name, "configure")
        self._refuse_active(record, "configured")
        return record

    def _replace(self, record: Record, configured: Configured) -> None:
        self._refuse_active(record, "configured")
        self.registry.put(replace(record, configured=configured))
        if record.configured is not None:
            record.configured.side.close()

    def _clean(self, record: Record) -> None:
        if record.configured is None:
            return
        self._refuse_active(record, "cleaned-up")
        needed = self.registry.needed_for(record.name)
        if needed:
            raise ControllerError(f"Controller '{record.name}' can not be cleaned-up: {needed}")
        self.registry.put(replace(record, configured=None))
        record.configured.side.close()

    def _refuse_active(self, record: Record, done: str) -> None:
        """Raises ControllerError for one that is active, or about to be."""
        if self.registry.state(record) is State.ACTIVE:
            raise ControllerError(
                f"Controller '{record.name}' can not be {done} from 'active' state."
            )
        if self.asked_for() == record.name:
            raise ControllerError(
                f"Controller '{record.name}' can not be {done}: a switch to it is on its way"
            )
