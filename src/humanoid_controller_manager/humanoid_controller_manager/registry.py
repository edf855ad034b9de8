"""The controllers this process has, and in which of ros2_control's states each of them is.

Whole mappings are exchanged, never changed: any thread may read, one thread (the executor's)
changes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Protocol, TypeAlias

from humanoid_control_common.config import Document
from humanoid_control_common.errors import ControllerError
from humanoid_control_common.modes import Mode
from humanoid_controller_manager.parameters import ControllerEntry
from humanoid_controller_manager.slots import ControllerSlot
from humanoid_controller_manager.snapshot import SnapshotListener


class State(Enum):
    """States of a controller, in ros2_control's words. A finalized one is gone from the list."""

    UNCONFIGURED = "unconfigured"
    INACTIVE = "inactive"
    ACTIVE = "active"


class Side(Protocol):
    """The ROS side of one configured controller: parameters, topics and services."""

    @property
    def document(self) -> Document:
        """The controller's parameters."""

    def attach(self, plugin_type: str, instance: object) -> SnapshotListener | None:
        """Give `instance` its topics and services. Returns who is to be told every snapshot."""

    def has(self, node: object) -> bool:
        """Whether its callbacks are those of `node`."""

    def close(self) -> None:
        """Take them away again. Called in the executor's thread."""


@dataclass(frozen=True, slots=True)
class Configured:
    """What a controller has from `on_configure` on."""

    instance: Any
    side: Side
    slot: ControllerSlot | None  # None: a broadcaster
    listener: SnapshotListener | None


@dataclass(frozen=True, slots=True)
class Record:
    """A loaded controller."""

    name: str
    entry: ControllerEntry
    plugin: Any  # its class
    configured: Configured | None = None
    broadcasting: bool = False

    @property
    def mode(self) -> Mode | None:
        """The mode it implements; None for a broadcaster."""
        return getattr(self.plugin, "mode", None)


Records: TypeAlias = Mapping[str, Record]
# Given the new slots of the loop and the new listeners. Raises ConfigError: nothing is changed.
Exchange: TypeAlias = Callable[[Mapping[str, ControllerSlot], Sequence[SnapshotListener]], None]


def slots_of(records: Records) -> dict[str, ControllerSlot]:
    """The mode controllers the loop may choose from."""
    return {
        record.name: record.configured.slot
        for record in records.values()
        if record.configured and record.configured.slot
    }


def listeners_of(records: Records) -> list[SnapshotListener]:
    """Who is told every snapshot: mode controllers, and broadcasters that are active."""
    return [
        r.configured.listener
        for r in records.values()
        if r.configured and r.configured.listener and (r.broadcasting or r.mode is not None)
    ]


class Registry:
    """Holds the records, in the order they were loaded.

    Args:
        safe_chain: names the loop falls back to; they can be reconfigured, never taken away.
    """

    def __init__(self, safe_chain: Sequence[str]) -> None:
        self.records: Records = {}
        self.safe_chain = tuple(safe_chain)
        # Until there is a loop:
        self.in_charge: Callable[[], str] = str
        self._exchange: Exchange = lambda slots, listeners: None

    def connect(self, in_charge: Callable[[], str], exchange: Exchange) -> None:
        """There is a loop now: who is in charge, and where changes go."""
        self.in_charge = in_charge
        self._exchange = exchange

    def get(self, name: str, verb: str) -> Record:
        """The record of `name`. Raises ControllerError saying what could not be done to it."""
        record = self.records.get(name)
        if record is None:
            raise ControllerError(
                f"Could not {verb} controller with name '{name}' because no controller with this "
                f"name exists; loaded: {', '.join(self.records)}"
            )
        return record

    def state(self, record: Record) -> State:
        """The state of a controller."""
        if record.configured is None:
            return State.UNCONFIGURED
        active = record.broadcasting if record.mode is None else record.name == self.in_charge()
        return State.ACTIVE if active else State.INACTIVE

    def needed_for(self, name: str) -> str:
        """Why `name` can't be taken away; empty if it can."""
        if name in self.safe_chain:
            return "the loop falls back to it (safe_controllers)"
        users = [
            r.name
            for r in self.records.values()
            if r.configured and name in r.entry.fallback_controllers
        ]
        return f"it is a fallback of {', '.join(users)}" if users else ""

    def of_mode(self, mode: Mode) -> str | None:
        """The controller of `mode` that was loaded first, of those that are configured."""
        return next(
            (r.name for r in self.records.values() if r.mode is mode and r.configured), None
        )

    def put(self, record: Record) -> None:
        """Add `record`, or put it in the place of the one of this name.

        Raises ConfigError if the loop can't have it; nothing is changed then.
        """
        self._set({**self.records, record.name: record})

    def remove(self, name: str) -> None:
        """Forget a record."""
        self._set({key: record for key, record in self.records.items() if key != name})

    def broadcast(self, on: Sequence[str], off: Sequence[str]) -> None:
        """Let the broadcasters `on` publish from now on, and those in `off` no longer."""
        changed = {name: replace(self.records[name], broadcasting=False) for name in off}
        changed |= {name: replace(self.records[name], broadcasting=True) for name in on}
        self._set({**self.records, **changed})

    def _set(self, records: Records) -> None:
        self._exchange(slots_of(records), listeners_of(records))
        self.records = records
