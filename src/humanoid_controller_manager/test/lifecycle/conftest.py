"""The lifecycle of controllers without loop and ROS."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, TypeVar, cast

import pytest

from humanoid_control_common.configuration.config import Document, StrictModel
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.joints import JointLimits, JointSet
from humanoid_control_common.robot.mit_interface import Capability
from humanoid_control_common.rules.modes import Mode
from humanoid_controller_manager.controller import Broadcaster, Controller, ModeGains, RobotFacts
from humanoid_controller_manager.loop.mode_controllers import checked_slots, member_names
from humanoid_controller_manager.loop.snapshot import Snapshot, SnapshotListener
from humanoid_controller_manager.ros.parameters import ControllerEntry
from humanoid_controller_manager.switching import plugin_checks
from humanoid_controller_manager.switching.lifecycle import Lifecycle
from humanoid_controller_manager.switching.registry import Registry, State

Result = TypeVar("Result")


class Gain(StrictModel):
    gain: float


class Damper(Controller):
    """A controller that is configured and nothing more."""

    Parameters: ClassVar[type[StrictModel]] = Gain
    mode: ClassVar[Mode] = Mode.DAMPING
    needs: ClassVar[Mapping[str, Capability]] = {}

    def _not_called(self, *_: object) -> None:
        raise AssertionError("there is no loop")

    on_activate = update = on_deactivate = _not_called  # type: ignore[assignment]

    def on_configure(self, parameters: Gain, robot: RobotFacts) -> None:
        if parameters.gain == 99.0:
            raise SystemExit(2)
        if parameters.gain > 100.0:
            raise ConfigError("gain: too much of it")
        if parameters.gain < 0.0:
            raise ZeroDivisionError("gain")
        self.configured = parameters.gain, robot
        self.cleaned = 0

    def on_cleanup(self) -> None:
        self.cleaned += 1
        if self.configured[0] == 13.0:
            raise SystemExit(2)


class Stiff(Damper):
    """A controller that has gains of its own."""

    mode: ClassVar[Mode] = Mode.STANDBY

    @property
    def gains(self) -> ModeGains:
        return ModeGains(20.0, self.configured[0])


class Strong(Stiff):
    """Needs an effort in every tick."""

    needs: ClassVar[Mapping[str, Capability]] = {"effort": Capability.PER_TICK}


class NoUpdate(Controller):
    """Lacks a duty that only the loop calls."""

    Parameters: ClassVar[type[StrictModel]] = Gain
    mode: ClassVar[Mode] = Mode.REMOTE
    on_configure = on_activate = on_deactivate = Damper.on_configure  # type: ignore[assignment]


class Misspelt(Damper):
    """Needs an interface that no joint has."""

    needs: ClassVar[Mapping[str, Capability]] = {"stifness": Capability.PER_MODE}


class Needy(Damper):
    """Waits for the gains of DAMPING, or is refused on hardware without them."""

    needs: ClassVar[Mapping[str, Capability]] = {"damping": Capability.PER_MODE}


class Numbered(Damper):
    """Has a number for a mode."""

    mode: ClassVar[Any] = 3


class Listed(StrictModel):
    joints: list[str]


class OwnJoints(Stiff):
    """Has a parameter with a name that the manager reserves."""

    Parameters: ClassVar[type[StrictModel]] = Listed


class Hardware:
    """Refuses damping above `most` [Nm s/rad]; offers everything but what `lacks` says."""

    most = float("inf")
    lacks = ""

    def lacking(self, needs: Mapping[str, Capability], rows: object = None) -> str:
        return self.lacks if needs else ""

    def check_gains(
        self, mode: Mode, stiffness: float, damping: float, where: str, rows: object = None
    ) -> None:
        assert stiffness == 20.0
        self.rows = rows
        if damping > self.most:
            raise ConfigError(f"{where}: damping is {damping:g}")


class PlainBroadcaster(Broadcaster):
    """A broadcaster: it has no mode."""

    Parameters: ClassVar[type[StrictModel]] = Gain

    def on_configure(self, parameters: Gain, robot: RobotFacts) -> None:
        """Nothing to do."""


class Side:
    """The ROS side of a controller; `refuse` is the error of its topics."""

    node = None

    def __init__(self, document: Document, world: World) -> None:
        self.document = document
        self.world = world
        self.open = True

    def attach(
        self, plugin_type: str, instance: object, robot: RobotFacts
    ) -> SnapshotListener | None:
        self.world.note("attach")
        if self.world.refuse:
            raise ConfigError(self.world.refuse)
        self.robot = robot
        return self.world.received.append

    def begin(self) -> None:
        self.world.note("begin")

    def close(self) -> None:
        self.world.note("close")
        assert self.open
        self.open = False


class World:
    """A lifecycle with hardware, and a loop that only states its active controller."""

    def __init__(self, robot: RobotFacts, safe_chain: tuple[str, ...] = ()) -> None:
        self.entries = {"d": ControllerEntry(type="x/Damper")}
        self.gain: object = 1.0
        self.joints: dict[str, object] = {}  # `joints` lists of controllers that have one
        self.received: list[Snapshot] = []  # snapshots that listeners got
        self.refuse = ""
        self.sides: list[Side] = []
        self.in_charge = ""
        self.pending_controller = ""
        # A switch that the loop carries out right before its outcome is looked at.
        self.take_over_when_observed = ""
        self.executing = False
        self.inside: set[str] = set()  # calls in the executor's thread
        self.outside: set[str] = set()
        self.hardware = Hardware()
        self.registry = Registry(safe_chain)
        hardware = cast("Any", self.hardware)
        self.lifecycle = Lifecycle(
            self.registry, self, robot, hardware, self._pending_controller, self._run
        )

    def connect(self) -> World:
        """Pass later changes to a loop."""

        def exchange(slots: Any, listeners: Any) -> None:
            self.note("exchange")
            checked_slots(slots, self.registry.safe_chain)

        self.registry.connect(lambda: member_names(self.in_charge), exchange)
        return self

    def note(self, what: str) -> None:
        (self.inside if self.executing else self.outside).add(what)

    def _pending_controller(self) -> str:
        self.note("asked for")
        if self.take_over_when_observed:
            self.in_charge, self.take_over_when_observed = self.take_over_when_observed, ""
            return ""
        return self.pending_controller

    def _run(self, function: Callable[[], Result]) -> Result:
        self.executing = True
        try:
            return function()
        finally:
            self.executing = False

    def entry(self, name: str) -> ControllerEntry:
        self.note("entry")
        if name not in self.entries:
            raise ConfigError(f"The 'type' param was not defined for '{name}'.")
        return self.entries[name]

    def open(self, name: str, entry: ControllerEntry, *, alone: bool) -> Side:
        self.note("open")
        content = {"gain": self.gain}
        content |= {"joints": self.joints[name]} if name in self.joints else {}
        places: dict[tuple[str | int, ...], str] = {("joints",): f"c.yaml:{len(self.sides) + 1}"}
        self.sides.append(Side(Document(f"parameters of {name}", content, places), self))
        return self.sides[-1]

    def state(self, name: str) -> State:
        return self.registry.state(self.registry.records[name])

    def instance(self, name: str) -> Any:
        configured = self.registry.records[name].configured
        assert configured is not None
        return configured.instance

    @property
    def open_sides(self) -> int:
        return sum(side.open for side in self.sides)


@pytest.fixture(autouse=True)
def _plugins(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    plugins = (
        Damper,
        PlainBroadcaster,
        Stiff,
        Strong,
        NoUpdate,
        Misspelt,
        Needy,
        Numbered,
        OwnJoints,
    )
    known = {f"x/{plugin.__name__}": plugin for plugin in plugins}

    def require(group: str, name: str, where: str) -> type:
        if name not in known:
            raise ConfigError(f"{where}: unknown plugin '{name}'; known: {', '.join(known)}")
        return known[name]

    monkeypatch.setattr(plugin_checks, "require_plugin", require)
    yield


@pytest.fixture
def robot(limits_of: Callable[[int], JointLimits]) -> RobotFacts:
    return RobotFacts(JointSet(("a", "b")), limits_of(2), 50.0)


@pytest.fixture
def world(robot: RobotFacts) -> World:
    return World(robot).connect()


@pytest.fixture(scope="session")
def world_type() -> type[World]:
    return World
