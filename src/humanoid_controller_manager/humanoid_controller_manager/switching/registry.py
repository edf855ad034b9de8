"""The loaded controllers, each in one of ros2_control's states.

Mappings are exchanged as a whole, never changed: any thread may read, only the executor's thread
exchanges.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Protocol, TypeAlias

from humanoid_control_common.configuration.config import Document
from humanoid_control_common.errors import ControllerError
from humanoid_control_common.robot.joints import JointSet
from humanoid_control_common.rules.modes import Mode
from humanoid_controller_manager.controller import RobotFacts
from humanoid_controller_manager.loop.mode_controllers import (
    ControllerSlot,
    controllers_of,
    group_name,
)
from humanoid_controller_manager.loop.snapshot import SnapshotListener
from humanoid_controller_manager.plugin_texts import PLUGIN_ERRORS
from humanoid_controller_manager.ros.parameters import ControllerEntry


class State(Enum):
    """States of a controller, in ros2_control's words. A finalized one leaves the registry."""

    UNCONFIGURED = "unconfigured"
    INACTIVE = "inactive"
    ACTIVE = "active"


class RosSide(Protocol):
    """The ROS side of one configured controller: parameters, topics and services."""

    @property
    def document(self) -> Document:
        """The controller's parameters."""

    def attach(
        self, plugin_type: str, instance: object, robot: RobotFacts
    ) -> SnapshotListener | None:
        """Create the topics and services of `instance`; return its listener, if it has one.

        `robot` has the joints that it claims.
        """

    def begin(self) -> None:
        """Begin to execute the callbacks, once the registry has the controller.

        The reaction to a callback that raises depends on its controller. Called in the executor's
        thread.
        """

    @property
    def node(self) -> Any:
        """The node that has the parameters, topics and services."""

    def close(self) -> None:
        """Remove topics and services. Called in the executor's thread."""


@dataclass(frozen=True, slots=True)
class Configured:
    """The parts that a controller has once it is configured."""

    instance: Any
    side: RosSide
    slot: ControllerSlot | None  # None: a broadcaster
    listener: SnapshotListener | None

    def close(self) -> None:
        """Remove topics and services, and clean up."""
        self.side.close()
        self.clean_up()

    def clean_up(self) -> None:
        """Let the instance release what it holds."""
        if self.slot is not None:
            try:
                self.instance.on_cleanup()
            except PLUGIN_ERRORS:
                logger.exception("%s failed to clean up", self.slot.name)


@dataclass(frozen=True, slots=True)
class Record:
    """A loaded controller."""

    name: str
    entry: ControllerEntry
    plugin: Any  # its class
    configured: Configured | None = None
    broadcasting: bool = False
    alone: bool = False  # its own files have all of its parameters: the robot's do not count

    @property
    def mode(self) -> Mode | None:
        """The mode it implements; None for a broadcaster."""
        return getattr(self.plugin, "mode", None)

    @property
    def slot(self) -> ControllerSlot | None:
        """The slot for the loop; None for a broadcaster, or before configure."""
        return None if self.configured is None else self.configured.slot


logger = logging.getLogger(__name__)

Records: TypeAlias = Mapping[str, Record]
# Takes the new slots of the loop and the new listeners. Raises ConfigError and changes nothing.
Exchange: TypeAlias = Callable[[Mapping[str, ControllerSlot], Sequence[SnapshotListener]], None]


def claimed_joints(record: Record, joints: JointSet) -> tuple[str, ...]:
    """Return the names of those of the robot's `joints` that a mode controller claims."""
    slot = record.slot
    if slot is None or slot.claimed is None:
        return joints.names
    return joints.names_at(slot.claimed.rows)


def slots_of(records: Records) -> dict[str, ControllerSlot]:
    """Return the mode controllers that the loop may choose from."""
    return {record.name: record.slot for record in records.values() if record.slot is not None}


def listeners_of(records: Records) -> list[SnapshotListener]:
    """Return the listeners of mode controllers and of active broadcasters."""
    return [
        r.configured.listener
        for r in records.values()
        if r.configured and r.configured.listener and (r.broadcasting or r.mode is not None)
    ]


class Registry:
    """Holds the records, in the order they were loaded.

    Args:
        safe_chain: the loop's fallbacks; they can be reconfigured but not removed.
    """

    def __init__(self, safe_chain: Sequence[str]) -> None:
        self.records: Records = {}
        self.safe_chain = tuple(safe_chain)
        # Until `connect`:
        self.in_charge: Callable[[], Sequence[str]] = tuple
        self._exchange: Exchange = lambda slots, listeners: None

    def connect(self, in_charge: Callable[[], Sequence[str]], exchange: Exchange) -> None:
        """Connect to the loop: `in_charge` returns its controllers, `exchange` takes changes."""
        self.in_charge = in_charge
        self._exchange = exchange

    def get(self, name: str, verb: str) -> Record:
        """Return the record of `name`. Raises ControllerError that names the impossible `verb`."""
        record = self.records.get(name)
        if record is None:
            raise ControllerError(
                f"Could not {verb} controller with name '{name}' because no controller with this "
                f"name exists; loaded: {', '.join(self.records)}"
            )
        return record

    def state(self, record: Record) -> State:
        """Return the state of a controller."""
        if record.configured is None:
            return State.UNCONFIGURED
        active = record.broadcasting if record.mode is None else record.name in self.in_charge()
        return State.ACTIVE if active else State.INACTIVE

    def needed_for(self, name: str) -> str:
        """Return why `name` cannot be removed; empty if it can."""
        if name in self.safe_chain:
            return "the loop falls back to it (safe_controllers)"
        users = [
            r.name
            for r in self.records.values()
            if r.configured and name in r.entry.fallback_controllers
        ]
        return f"it is a fallback of {', '.join(users)}" if users else ""

    def of_mode(self, mode: Mode) -> str | None:
        """Return the controller of `mode`, or the group of them; None if none is configured.

        See `controllers_of`, in loading order.
        """
        chosen = controllers_of(mode, slots_of(self.records).values())
        return group_name(slot.name for slot in chosen) or None

    def put(self, record: Record) -> None:
        """Add `record`, or replace the one of this name.

        Raises ConfigError if the loop refuses it; nothing is changed then.
        """
        self._set({**self.records, record.name: record})

    def put_first(self, record: Record) -> None:
        """Like `put`, but before the other controllers of its mode."""
        others = [it for name, it in self.records.items() if name != record.name]
        same = [i for i, it in enumerate(others) if it.mode is record.mode]
        others.insert(same[0] if same else len(others), record)
        self._set({it.name: it for it in others})

    def remove(self, name: str) -> None:
        """Remove a record."""
        self._set({key: record for key, record in self.records.items() if key != name})

    def clean_up(self) -> None:
        """Let all controllers release what they hold, at the end of the process."""
        for record in self.records.values():
            if record.configured is not None:
                record.configured.clean_up()

    def broadcast(self, on: Sequence[str], off: Sequence[str]) -> None:
        """Activate the broadcasters `on` and deactivate those in `off`."""
        changed = {name: replace(self.records[name], broadcasting=False) for name in off}
        changed |= {name: replace(self.records[name], broadcasting=True) for name in on}
        self._set({**self.records, **changed})

    def _set(self, records: Records) -> None:
        self._exchange(slots_of(records), listeners_of(records))
        self.records = records
