"""The order of events, for any step of the calls."""

from dataclasses import dataclass, field

import hypothesis.strategies as st
from hypothesis import given

from humanoid_twin.clock import SimulatedTime
from humanoid_twin.scheduler import Scheduler

MILLISECOND = 1_000_000  # [ns]
History = list[tuple[str, int]]


@dataclass
class StubBus:
    """A bus with an event every `period` [ns]."""

    name: str
    period: int
    simulated_time: SimulatedTime
    history: History
    next_event: int = field(init=False)

    def __post_init__(self) -> None:
        self.next_event = self.period

    def run(self, now: int) -> None:
        assert now == self.simulated_time.now == self.next_event
        self.history.append((self.name, now))
        self.next_event += self.period

    def step(self) -> None:
        self.history.append((f"{self.name} step", self.simulated_time.now))

    def tick(self) -> None:
        self.history.append((f"{self.name} tick", self.simulated_time.now))


@dataclass
class StubPlant:
    simulated_time: SimulatedTime
    history: History

    def step(self, seconds: float) -> None:
        assert seconds == 0.001
        self.history.append(("plant", self.simulated_time.now))


def world_of(*periods: int) -> tuple[Scheduler, History]:
    simulated_time, history = SimulatedTime(), []
    world = Scheduler(StubPlant(simulated_time, history), simulated_time)
    for number, period in enumerate(periods):
        world.add(StubBus(f"bus {number}", period, simulated_time, history))
    return world, history


def test_all_drives_are_stepped_then_the_plant_then_all_drives_get_the_tick():
    world, history = world_of(10**12, 10**12)
    world.advance(MILLISECOND)
    assert [what for what, _ in history] == [
        "bus 0 step", "bus 1 step", "plant", "bus 0 tick", "bus 1 tick",
    ]  # fmt: skip


def test_bus_events_come_before_the_step_of_the_same_time():
    world, history = world_of(MILLISECOND)
    world.advance(MILLISECOND)
    assert history[0] == ("bus 0", MILLISECOND)
    assert history[1] == ("bus 0 step", MILLISECOND)


def test_events_run_at_their_time_and_not_earlier():
    world, history = world_of(MILLISECOND + 1)
    world.advance(MILLISECOND - 1)
    assert history == []
    assert world.now == MILLISECOND - 1
    world.advance(MILLISECOND)
    assert [time for _, time in history] == [MILLISECOND] * 3


def test_time_never_runs_backwards():
    world, history = world_of(300)
    world.advance(5000)
    before = len(history)
    world.advance(1000)
    assert (world.now, len(history)) == (5000, before)


def test_each_step_is_reported_after_it_is_done():
    world, history = world_of(10**12)
    world.on_step = lambda now: history.append(("reported", now))
    world.advance(2 * MILLISECOND)
    assert [what for what, _ in history[-1:]] == ["reported"]
    assert [now for what, now in history if what == "reported"] == [MILLISECOND, 2 * MILLISECOND]


@given(
    st.lists(st.integers(0, 3 * MILLISECOND), max_size=12),
    st.lists(st.integers(100_000, 2 * MILLISECOND), min_size=1, max_size=3),
)
def test_single_advance_runs_the_same_events_as_many(stops, periods):
    whole, expected = world_of(*periods)
    parts, found = world_of(*periods)
    whole.advance(3 * MILLISECOND)
    for stop in [*stops, 3 * MILLISECOND]:
        parts.advance(stop)
    assert found == expected
    assert expected == sorted(expected, key=lambda event: event[1])


def test_a_run_that_is_halted_ends_after_everything_at_that_time():
    world, history = world_of(MILLISECOND, MILLISECOND)
    world.on_step = lambda now: world.halt() if now == 2 * MILLISECOND else None
    world.run(5 * MILLISECOND)
    assert world.now == 2 * MILLISECOND
    assert [what for what, now in history if now == world.now][-1] == "bus 1 tick"
    world.run(5 * MILLISECOND)
    assert world.now == 5 * MILLISECOND


def test_halt_runs_all_events_of_the_same_time():
    world, history = world_of(MILLISECOND)
    bus = world._buses[0]
    run = bus.run
    bus.run = lambda now: (run(now), world.halt())
    world.run(5 * MILLISECOND)
    assert [what for what, _ in history] == ["bus 0", "bus 0 step", "plant", "bus 0 tick"]


def test_scheduler_reports_pauses_between_its_calls():
    world, _ = world_of(10**12)
    for now in (5, 10, 40, 45):
        world.advance(now * MILLISECOND)
    assert list(world.pauses) == [(40 * MILLISECOND, 30 * MILLISECOND)]
