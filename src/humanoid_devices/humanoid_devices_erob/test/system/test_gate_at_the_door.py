"""No SDO write reaches a drive while joint states don't flow, whatever starts and is interrupted.

What the drives have received is their own record; what was published is this test's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random

import pytest

from humanoid_control_common.errors import HardwareError
from humanoid_control_common.modes import Mode
from humanoid_devices_erob.joint_states_gate import JointStatesGate
from humanoid_devices_erob.sdo import SdoBatch, SdoObject, SdoResult, SdoStatus

SLAVES = 2
LEAST, PERIODS = 0.05, 5  # [s] and periods that joint states count, by the documents
ON_THE_WIRE = 0.0002  # [s] from the decision to the drive: a frame of this ring takes 10 us
GATE, VELOCITY, POSITION = (0x2383, 0), (0x2381, 1), (0x2382, 1)
INTERRUPTIONS = 60  # of one start


@dataclass
class Tally:
    """What was done, and what the drives say."""

    starts: int = 0
    interruptions: int = 0
    writes: int = 0  # received by the drives in operation
    violations: list[str] = field(default_factory=list)


class Story:
    """One ring, started and interrupted at random, with several clients that write all the time."""

    def __init__(self, make_bench: Callable[..., object], seed: int) -> None:
        self.random, self.tally = Random(seed), Tally()
        self.bench = make_bench(SLAVES, seed=seed)
        self.published: list[tuple[float, float]] = []  # when, measured when: complete and finite
        self.answers: list[Future[tuple[SdoResult, ...]]] = []
        self.number = 0
        self.bench.publishing = False  # by this story
        self.flaw = ""  # of the joint states

    def run(self, episodes: int) -> Tally:
        while self.tally.starts + self.tally.interruptions < episodes:
            self._start()
            for _ in range(INTERRUPTIONS):
                self._interruption()
                self._judge()
            self._end()
        return self.tally

    # What happens.

    def _start(self) -> None:
        """With a drive left armed, clients that don't wait, or frames that get lost."""
        bench, random = self.bench, self.random
        rate = random.choice([50.0, 200.0])
        bench.new_system(update_rate=rate)
        self.limit = max(PERIODS / rate, LEAST)
        self.tally.starts += 1
        for slave in range(SLAVES):
            bench.control.mailbox_delay(random.choice([0.0, 0.002, 0.008]), slave)
        asked = bench.system.submit(self._batch(valid_until=math.inf))
        assert {result.status for result in asked.result(0)} == {SdoStatus.REFUSED}
        bench.control.log()
        bench.activate()
        self._told(publish=True)  # before the loop drives the ring nothing counts
        self._client(math.inf)
        self._judge_start()
        bench.tick()
        self._mode()

    def _judge_start(self) -> None:
        log = self.bench.control.log()
        begun = min(t for t, _, kind, it in log if kind == "state" and it["state"] == 4)  # SAFEOP
        late = [line for line in log if _is_write(line) and line[0] >= begun]
        self.tally.violations += [f"in the bring-up: {line}" for line in late]

    def _interruption(self) -> None:
        bench, random = self.bench, self.random
        self.tally.interruptions += 1
        kind = random.choice(
            ["silent", "late", "nan", "mode", "fault", "lost", "slow", "held up", "none"]
        )
        self.flaw = kind if kind in ("silent", "late", "nan") else ""
        if kind == "mode":
            self._mode()
        elif kind == "fault":
            bench.system._master.request_slave_state(random.randrange(SLAVES), 4)
        elif kind == "lost":
            bench.control.drop(0.2)
        elif kind == "slow":
            bench.control.mailbox_delay(random.choice([0.0, 0.004, 0.03]), random.randrange(SLAVES))
        elif kind == "held up":
            bench.control.advance(random.choice([0.02, 0.06, 0.15]))
        for _ in range(random.randrange(1, 14)):
            self._tick()
        bench.control.drop(0.0)
        self.flaw = ""
        if random.random() < 0.5:
            bench.system.reset_faults()

    def _tick(self) -> None:
        bench, random = self.bench, self.random
        system, clock = bench.system, bench.time.clock
        system.read(bench.state, clock(), bench.period)
        self._told(publish=self.flaw != "silent")
        if random.random() < 0.5:
            self._client(random.choice([math.inf, math.nan, clock() + 0.03, clock() - 1.0]))
        system.write(bench.command, clock(), bench.period)
        if random.random() < 0.3:  # between two frames of a batch, as the publisher's thread does
            self._told(publish=self.flaw != "silent")
        bench._due = max(bench._due + bench.period, clock()) + system.tick_correction()
        system.idle_until(bench._due)

    def _told(self, *, publish: bool) -> None:
        if not publish:
            return
        bench = self.bench
        now = bench.time.clock()
        measured = now - (self.limit + 0.01 if self.flaw == "late" else 0.0)
        joint = self.random.randrange(SLAVES)
        kept = bench.state.position[joint]
        if self.flaw == "nan":
            bench.state.position[joint] = self.random.choice([math.nan, math.inf])
        bench.system.joint_states_published(now, measured)
        bench.state.position[joint] = kept
        if self.flaw != "nan":
            self.published.append((now, measured))

    def _mode(self) -> None:
        self.number += 1
        self.bench.system.mode_changed(self.random.choice(list(Mode)), self.number)

    def _client(self, valid_until: float) -> None:
        """Impedance manager, `hc sdo` and a recording that is replayed: they differ in this."""
        self.answers = [answer for answer in self.answers if not answer.done()]
        if len(self.answers) < 6:
            self.answers.append(self.bench.system.submit(self._batch(valid_until)))

    def _batch(self, valid_until: float) -> SdoBatch:
        random, watch = self.random, self.bench.system._watch
        choice = [(GATE, 1), (VELOCITY, 56), (VELOCITY, 19), (POSITION, 0), (POSITION, 515)]
        objects = tuple(
            SdoObject(random.randrange(SLAVES), *key, value.to_bytes(4, "little"))
            for key, value in random.choices(choice, k=random.randrange(1, 9))
        )
        mode, number = int(watch.mode), watch.number - (random.random() < 0.1)
        return SdoBatch(objects, True, mode, number, valid_until)

    # What is true.

    def _judge(self) -> None:
        for line in filter(_is_write, self.bench.control.log()):
            self.tally.writes += 1
            arrived = line[0] - ON_THE_WIRE
            allowed = any(
                published <= line[0] and arrived < min(published, measured) + self.limit
                for published, measured in self.published
            )
            if not allowed:
                self.tally.violations.append(f"outside the gate: {line}")
        now = self.bench.time.clock()
        self.published = [it for it in self.published if it[0] > now - 2 * self.limit]

    def _end(self) -> None:
        """In order, which closes gates and writes nothing else; or as kill -9 does."""
        bench = self.bench
        if self.random.random() < 0.3:
            bench.die()
        else:
            bench.control.mailbox_delay(0.0)
            with suppress(HardwareError):  # drives in fault may stay armed: others' tests
                bench.system.on_deactivate()
        for line in filter(_is_write, bench.control.log()):
            if (line[3]["index"], line[3]["subindex"]) != GATE:
                self.tally.violations.append(f"at the exit: {line}")
        self.published.clear()
        self.answers.clear()


def _is_write(line: tuple[float, int, str, dict[str, object]]) -> bool:
    """Whether a drive has received the beginning of an SDO download (ETG.1000.6: ccs 1)."""
    _, _, kind, detail = line
    return kind == "request" and int(str(detail["command"])) >> 5 == 1


def told(tally: Tally) -> str:
    return (
        f"{tally.starts} starts, {tally.interruptions} interruptions, {tally.writes} writes "
        f"received, {len(tally.violations)} outside the gate: {tally.violations[:3]}"
    )


def test_no_write_leaves_while_joint_states_do_not_flow(make_bench) -> None:
    tally = Story(make_bench, seed=1).run(120)
    assert tally.violations == [], told(tally)
    assert tally.writes > 100, told(tally)


def test_writes_outside_the_gate_would_be_counted(
    make_bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same with a gate that is always open."""
    monkeypatch.setattr(JointStatesGate, "obstacle", lambda *_: "")
    tally = Story(make_bench, seed=1).run(60)
    assert len(tally.violations) > 10, told(tally)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(100, 120))
def test_no_write_leaves_in_ten_thousand_starts_and_interruptions(make_bench, seed: int) -> None:
    """500 of them with each seed."""
    tally = Story(make_bench, seed).run(500)
    assert tally.violations == [], told(tally)
    assert tally.writes > 500, told(tally)
