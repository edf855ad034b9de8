"""Load, configure, clean up and unload controllers."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol, TypeVar

from humanoid_control_common.errors import ControllerError
from humanoid_control_common.robot.joints import IndexArray
from humanoid_control_common.rules.modes import Mode
from humanoid_controller_manager.controller import RobotFacts
from humanoid_controller_manager.hardware.hardware_group import HardwareGroup
from humanoid_controller_manager.loop.mode_controllers import (
    ClaimedJoints,
    ControllerSlot,
    member_names,
)
from humanoid_controller_manager.loop.snapshot import Snapshot, SnapshotListener
from humanoid_controller_manager.ros.parameters import ControllerEntry
from humanoid_controller_manager.switching.claims import (
    claimed_rows,
    refuse_conflicts,
    refuse_overlap,
)
from humanoid_controller_manager.switching.plugin_checks import (
    configured_instance,
    import_controller,
)
from humanoid_controller_manager.switching.registry import (
    Configured,
    Record,
    Registry,
    RosSide,
    State,
)


@dataclass(frozen=True, slots=True, eq=False)
class NamedListener:
    """The listener of controller `name`, with the ticks in the view of the controller.

    `rows`: of its joints among the robot's; None: it claims all joints.
    """

    name: str
    listener: SnapshotListener
    rows: IndexArray | None

    def __call__(self, snapshot: Snapshot) -> None:
        """Pass `snapshot` on."""
        rows = self.rows
        self.listener(snapshot if rows is None else snapshot.of_member(self.name, rows))

    def __str__(self) -> str:
        """Return the controller, for the log."""
        return self.name


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

        Of controllers of one mode that claim all joints the first one is in charge by default.

        Raises ConfigError also for two controllers of one mode whose lists share a joint.
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

        Raises ControllerError if its mode is in force, or about to be, for the name of a
        broadcaster, and for joints that do not offer what it needs: it could never begin.
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
            assert configured.slot is not None
            if lacking := configured.slot.lacking(self.hardware):
                raise ControllerError(lacking)
            return self.in_executor(
                lambda: self._put_first(replace(record, configured=configured), mode)
            )

    def prefer(self, name: str) -> Change:
        """Put a configured mode controller before the others of its mode.

        Raises ControllerError if there is none of this `name`, or while its mode is in force.
        """

        def do() -> Change:
            record = self.registry.get(name, "load")
            mode = record.mode
            if mode is None or record.slot is None:
                raise ControllerError(f"'{name}' is no mode controller that is configured")
            return self._put_first(record, mode)

        return self.in_executor(do)

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
        attached = side.attach(record.entry.type, instance, robot)
        listener = None if attached is None else NamedListener(record.name, attached, rows)
        if mode is None:
            return Configured(instance, side, None, listener)
        fallbacks = tuple(record.entry.fallback_controllers)
        claimed = None if rows is None else ClaimedJoints(rows)
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
        configured.side.begin()
        if record.configured is not None:
            record.configured.close()

    def _put_first(self, record: Record, mode: Mode) -> Change:
        self._refuse_in_force(record)
        refuse_overlap(record, self.registry.records.values(), self.robot.joints)
        old = self.registry.records.get(record.name)
        before = member_names(self.registry.of_mode(mode) or "")
        self.registry.put_first(record)
        if record.configured is not None and old is not record:
            record.configured.side.begin()
        if old is not None and old.configured is not None and old is not record:
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
