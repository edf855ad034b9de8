"""Load, configure, clean up and unload controllers."""

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol, TypeVar

from humanoid_control_common.configuration.config import Document
from humanoid_control_common.errors import ConfigError, ControllerError
from humanoid_control_common.robot.joints import IndexArray
from humanoid_control_common.robot.mit_interface import COMMAND_INTERFACES, Capability
from humanoid_control_common.rules.modes import SAFE_MODES, Mode
from humanoid_controller_manager.controller import (
    BROADCASTER_CONTRACT,
    CONTROLLER_CONTRACT,
    Broadcaster,
    Controller,
    RobotFacts,
)
from humanoid_controller_manager.duties import Contract
from humanoid_controller_manager.hardware.hardware_group import HardwareGroup
from humanoid_controller_manager.loop.mode_controllers import (
    ClaimedJoints,
    ControllerSlot,
    member_names,
)
from humanoid_controller_manager.loop.snapshot import SnapshotListener
from humanoid_controller_manager.plugins import CONTROLLERS, ROS_SIDES, find_plugin, require_plugin
from humanoid_controller_manager.ros.parameters import ControllerEntry, parse
from humanoid_controller_manager.switching.claims import (
    KEY,
    claimed_rows,
    refuse_conflicts,
    refuse_overlap,
)
from humanoid_controller_manager.switching.registry import (
    Configured,
    Record,
    Registry,
    RosSide,
    State,
)

logger = logging.getLogger(__name__)


def import_controller(name: str, plugin_type: str) -> Any:
    """Return the class of controller `name`, and import its ROS side while there is time.

    Raises ConfigError for a plug-in that is unknown, cannot be imported or is no controller.
    """
    plugin = require_plugin(CONTROLLERS, plugin_type, f"controller '{name}'")
    _checked(plugin, f"controller '{name}': plugin '{plugin_type}'")
    find_plugin(ROS_SIDES, plugin_type)
    return plugin


def _checked(plugin: Any, where: str) -> None:
    """Raise ConfigError for a class that breaks its contract, see `duties`."""
    contract = _contract_of(plugin)
    duties = contract.taken_on(plugin, where)
    broadcasts = contract is BROADCASTER_CONTRACT
    expected = ["Parameters"] if broadcasts else ["Parameters", "mode", "needs"]
    lacking = [name for name in expected if not hasattr(plugin, name)]
    if lacking:
        raise ConfigError(f"{where} has no {', '.join(lacking)}")
    if broadcasts:
        if hasattr(plugin, "mode"):
            raise ConfigError(
                f"{where} has a mode, so it is no Broadcaster: derive from Controller"
            )
    elif not isinstance(plugin.mode, Mode):
        raise ConfigError(f"{where} is of mode {plugin.mode!r}, expected a Mode")
    elif not _is_known(plugin.needs):
        known = ", ".join(COMMAND_INTERFACES)
        raise ConfigError(f"{where} needs {plugin.needs!r}, expected {known}")
    elif plugin.mode in SAFE_MODES and plugin.needs:
        raise ConfigError(
            f"{where} needs {', '.join(plugin.needs)}: a controller of {plugin.mode.name} must "
            "begin at once on any hardware. Leave `needs` empty"
        )
    elif KEY in getattr(plugin.Parameters, "model_fields", ()):
        raise ConfigError(
            f"{where} has a parameter '{KEY}': the manager takes that key and gives the controller "
            "its joints as `robot.joints`. Leave it out"
        )
    logger.debug("%s has the duties: %s", where, ", ".join(sorted(duties)))


def _contract_of(plugin: Any) -> Contract:
    broadcasts = isinstance(plugin, type) and issubclass(plugin, Broadcaster)
    return BROADCASTER_CONTRACT if broadcasts else CONTROLLER_CONTRACT


def _is_known(needs: Any) -> bool:
    return isinstance(needs, Mapping) and all(
        name in COMMAND_INTERFACES and isinstance(level, Capability)
        for name, level in needs.items()
    )


def configured_instance(
    name: str,
    plugin: Any,
    document: Document,
    robot: RobotFacts,
    hardware: HardwareGroup,
    rows: IndexArray | None = None,
) -> Any:
    """Return a configured controller of class `plugin`; `hardware` is configured already.

    `robot` has the joints that it claims: those at `rows`, or all of the robot's.

    Raises ConfigError naming the controller and the place in its parameters.
    """
    where = f"{document.where(())}: {name}"
    parameters = parse(plugin.Parameters, name, document)
    try:
        instance = plugin()
        instance.on_configure(parameters, robot)
        gains = instance.gains if isinstance(instance, Controller) else None
        compensates = isinstance(instance, Controller) and instance.compensates_gravity
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from error
    except (Exception, SystemExit) as error:  # plug-in code: may raise anything
        raise ConfigError(f"{where}: on_configure failed: {error!r}") from error
    _contract_of(plugin).refuse_hidden(instance, where)
    if compensates and robot.no_gravity:
        raise ConfigError(f"{where}: gravity cannot be compensated: {robot.no_gravity}")
    if gains is not None:
        hardware.check_gains(instance.mode, *gains, where, rows)
    return instance


def _of_member(listener: SnapshotListener, name: str, rows: IndexArray) -> SnapshotListener:
    """Return `listener` with the ticks in the view of controller `name`."""
    return lambda snapshot: listener(snapshot.of_member(name, rows))


T = TypeVar("T")


class Change(NamedTuple):
    """The controllers of a mode before and after a controller came or went."""

    mode: Mode
    before: tuple[str, ...]
    after: tuple[str, ...]


class InExecutor(Protocol):
    """Runs a function in the executor's thread; returns its result, or raises its error."""

    def __call__(self, function: Callable[[], T], /) -> T:
        """Run it."""


class RosSideSource(Protocol):
    """Source of the parameters and topics of controllers."""

    def entry(self, name: str) -> ControllerEntry:
        """Return the entry of `name` in the manager's parameters. Raises ConfigError.

        Called in the executor's thread.
        """

    def open(self, name: str, entry: ControllerEntry, *, alone: bool) -> RosSide:
        """Create the ROS side of a controller that will be configured. Raises ConfigError.

        `alone`: see Record.
        """


@dataclass(frozen=True, slots=True)
class Lifecycle:
    """The transitions of a controller; called by one thread.

    They raise ControllerError and ConfigError and then leave the controller as it was: after a
    failed configuration, a controller keeps its old instance.
    """

    registry: Registry
    ros_sides: RosSideSource
    robot: RobotFacts
    hardware: HardwareGroup
    pending_controller: Callable[[], str]  # one or a group that a switch is on its way to, or empty
    in_executor: InExecutor

    def bring_up(self, entries: Mapping[str, ControllerEntry]) -> None:
        """Load and configure `entries` in order and activate broadcasters, before the loop runs.

        Raises ConfigError also for two controllers of one mode that claim the same joint.
        """
        for name, entry in entries.items():
            self._add(name, entry)
            self.configure(name)
        refuse_conflicts(self.registry.records.values(), self.robot.joints)
        broadcasters = [r.name for r in self.registry.records.values() if r.mode is None]
        self.registry.broadcast(on=broadcasters, off=())

    def load(self, name: str) -> None:
        """Nothing -> unconfigured."""
        if name in self.registry.records:
            raise ControllerError(f"A controller named '{name}' was already loaded")
        self._add(name, self.in_executor(lambda: self.ros_sides.entry(name)))

    def configure(self, name: str) -> None:
        """Unconfigured or inactive -> inactive, with the present parameters."""
        record = self.in_executor(lambda: self._configurable(name))
        configured = self._configured(record)
        with self._closed_if_refused(configured):
            self.in_executor(lambda: self._replace(record, configured))

    def cleanup(self, name: str) -> None:
        """Inactive or unconfigured -> unconfigured."""
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

    def load_first(self, name: str, entry: ControllerEntry) -> Change:
        """Nothing, unconfigured or inactive -> inactive, before the others of its mode.

        The files of `entry` have all of its parameters.

        Raises ControllerError if its mode is in force, or about to be, and for the name of a
        broadcaster.
        """
        record = Record(name, entry, import_controller(name, entry.type), alone=True)
        mode = record.mode
        if mode is None:
            raise ControllerError(
                f"'{name}' is a broadcaster, expected a mode controller: add it to the robot's "
                "controllers"
            )
        self.in_executor(lambda: self._refuse_in_force(record))
        configured = self._configured(record)
        with self._closed_if_refused(configured):
            return self.in_executor(
                lambda: self._put_first(replace(record, configured=configured), mode)
            )

    def take_out(self, name: str) -> Change:
        """Unload a mode controller that is inactive or unconfigured; return what is left."""

        def do() -> Change:
            record = self.registry.get(name, "unload")
            mode = record.mode
            if mode is None:
                raise ControllerError(f"'{name}' is a broadcaster, expected a mode controller")
            before = member_names(self.registry.of_mode(mode) or "")
            if name in before:
                self._refuse_in_force(record)
            self._clean(record)
            self.registry.remove(name)
            return Change(mode, before, member_names(self.registry.of_mode(mode) or ""))

        return self.in_executor(do)

    def _add(self, name: str, entry: ControllerEntry) -> None:
        plugin = import_controller(name, entry.type)
        self.in_executor(lambda: self.registry.put(Record(name, entry, plugin)))

    def _configured(self, record: Record) -> Configured:
        side = self.ros_sides.open(record.name, record.entry, alone=record.alone)
        with self._closed_if_refused(side):
            return self._attached(record, side)

    @contextmanager
    def _closed_if_refused(self, opened: RosSide | Configured) -> Iterator[None]:
        try:
            yield
        except BaseException:
            self.in_executor(opened.close)
            raise

    def _attached(self, record: Record, side: RosSide) -> Configured:
        rows, document, mode = None, side.document, record.mode
        if mode is not None:
            rows, document = claimed_rows(record.name, mode, document, self.robot.joints)
        robot = self.robot if rows is None else self.robot.of(rows)
        instance = configured_instance(
            record.name, record.plugin, document, robot, self.hardware, rows
        )
        listener = side.attach(record.entry.type, instance, robot)
        if mode is None:
            return Configured(instance, side, None, listener)
        fallbacks = tuple(record.entry.fallback_controllers)
        claimed = None if rows is None else ClaimedJoints(rows)
        if listener is not None and rows is not None:
            listener = _of_member(listener, record.name, rows)
        slot = ControllerSlot(
            record.name, instance, fallbacks, claimed, bool(instance.compensates_gravity)
        )
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
            record.configured.close()

    def _put_first(self, record: Record, mode: Mode) -> Change:
        self._refuse_in_force(record)
        refuse_overlap(record, self.registry.records.values(), self.robot.joints)
        old = self.registry.records.get(record.name)
        before = member_names(self.registry.of_mode(mode) or "")
        self.registry.put_first(record)
        if old is not None and old.configured is not None:
            old.configured.close()
        return Change(mode, before, member_names(self.registry.of_mode(mode) or ""))

    def _refuse_in_force(self, record: Record) -> None:
        """Raise ControllerError if the mode of `record`, or of one it replaces, is in force.

        Also if `record` would replace a broadcaster: joint states would end, in any mode.
        """
        records = self.registry.records
        coming = member_names(self.pending_controller())
        modes = {records[it].mode for it in (*self.registry.in_charge(), *coming) if it in records}
        old = records.get(record.name)
        if old is not None and old.mode is None:
            raise ControllerError(
                f"'{record.name}' is the name of a broadcaster, which a mode controller cannot "
                "replace: give the controller another name"
            )
        for mode in (record.mode, old.mode if old else None):
            if mode is not None and mode in modes:
                raise ControllerError(
                    f"{mode.name} is in force, or about to be: leave it before its controllers "
                    f"change ('{record.name}')"
                )

    def _clean(self, record: Record) -> None:
        if record.configured is None:
            return
        self._refuse_active(record, "cleaned-up")
        needed = self.registry.needed_for(record.name)
        if needed:
            raise ControllerError(f"Controller '{record.name}' can not be cleaned-up: {needed}")
        self.registry.put(replace(record, configured=None))
        record.configured.close()

    def _refuse_active(self, record: Record, done: str) -> None:
        """Raise ControllerError for a controller that is active, or about to be."""
        # The loop may switch meanwhile: what is pending no more must be found active.
        coming = member_names(self.pending_controller())
        if self.registry.state(record) is State.ACTIVE:
            raise ControllerError(
                f"Controller '{record.name}' can not be {done} from 'active' state."
            )
        if record.name in coming:
            raise ControllerError(
                f"Controller '{record.name}' can not be {done}: a switch to it is on its way"
            )
