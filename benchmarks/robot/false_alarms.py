"""Count the falls in simulated hours without a fault: each one is a false alarm (goal: 0).

Falls with a joint beyond its velocity safety limit don't count, such as a limp wrist that drops.

Prime runs in MuJoCo, without pacing, with all safety layers. A simulated operator follows the
rules, requests the modes at random and lowers the arms before they go limp. Programs send smooth
commands up to 0.8 of the joints' velocity limits. Hands carry up to 1 kg and are pushed. Positions
are measured in counts of the real encoders, velocities with noise. The result also has the largest
ratio of a speed to the velocity safety limit.
"""

from __future__ import annotations

import random
import sys
from collections import Counter

import numpy as np

from benchmarks.support.figures import Figure, arguments, note, report, single
from benchmarks.support.in_process import Robot, robot, velocity_safety_factor
from humanoid_control_common.robot.mit_interface import JointCommand, JointState
from humanoid_control_common.rules.modes import Intent, Mode
from humanoid_controllers.remote import RemoteCommand
from prime_description import expand

RATE = 50.0  # [Hz], the robot's
PERIOD = 1.0 / RATE
COUNTS = 65536.0 / (2.0 * np.pi)  # [1/rad], the coarser of the two encoders
VELOCITY_NOISE = 0.02  # [rad/s], standard deviation
HEAVIEST, HARDEST_PUSH = 9.81, 15.0  # [N]
HANDS = ("left_wrist_yaw_link", "right_wrist_yaw_link")
FASTEST = 0.8  # of the velocity limit, at most, in commands
WIDEST = 0.6  # [rad] to either side
SOFTEST, STIFFEST = (10.0, 2.0), (40.0, 5.0)  # [Nm/rad], [Nm s/rad]
LONGEST_STANDBY = 20.0  # [s]
COME_DOWN = 4.0  # [s] in DAMPING, before the arms lose their damping
HOUR = 3600.0  # [s]
QUICK = 30.0  # [s]


class Sensors:
    """Replaces the simulation's `read`: positions in counts, velocities with noise."""

    def __init__(self, prime: Robot, seed: int) -> None:
        component = prime.hardware.members[0].component
        self._read = component.read
        self._noise = np.random.default_rng(seed)
        self._limit = velocity_safety_factor() * prime.description.limits.velocity
        self.too_fast = 0  # ticks in a row in which a joint was truly beyond its safety limit
        component.read = self  # type: ignore[method-assign]

    def __call__(self, state: JointState, now: float, period: float) -> None:
        """See HardwareComponent.read."""
        self._read(state, now, period)
        beyond = bool((np.abs(state.velocity) > self._limit).any())
        self.too_fast = self.too_fast + 1 if beyond else 0
        np.round(state.position * COUNTS, out=state.position)
        state.position /= COUNTS
        state.velocity += VELOCITY_NOISE * self._noise.standard_normal(state.velocity.shape)


class Motion:
    """A sum of two sines per joint about the ready pose, with at least the damping of the modes."""

    def __init__(self, prime: Robot, dice: np.random.Generator) -> None:
        limits = prime.description.limits
        count = limits.velocity.shape[0]
        self._middle = prime.loop.snapshot.command.position.copy()
        room = np.minimum(limits.target_upper - self._middle, self._middle - limits.target_lower)
        self._frequency = dice.uniform(0.3, 6.0, (2, count))  # [rad/s]
        self._phase = dice.uniform(0.0, 2.0 * np.pi, (2, count))
        fastest = dice.uniform(0.1, FASTEST) * limits.velocity
        widest = np.minimum(room, WIDEST)
        self._amplitude = np.minimum(widest, fastest / self._frequency) / 2.0
        self._gains = np.repeat(dice.uniform(SOFTEST, STIFFEST)[:, None], count, axis=1)

    def command(self, time: float) -> JointCommand:
        """Return the command for `time` [s]."""
        command = JointCommand(self._middle.shape[0])
        angle = self._frequency * time + self._phase
        command.position[:] = self._middle + (self._amplitude * np.sin(angle)).sum(axis=0)
        speeds = self._amplitude * self._frequency * np.cos(angle)
        command.velocity[:] = speeds.sum(axis=0)
        command.array[3:] = self._gains
        return command


class Day:
    """One simulated robot and its operator, from one seed."""

    def __init__(self, seed: int) -> None:
        self.time = 0.0  # [s]
        self.dice = random.Random(seed)
        self.generator = np.random.default_rng(seed)
        urdf = expand({"use_sim": "true", "real_time_factor": "0"})
        self.prime = robot(urdf, RATE, lambda: self.time)
        self.ticks: Counter[Mode] = Counter()
        self.alarms: list[str] = []
        self.fastest = dict.fromkeys(Mode, 0.0)  # of the velocity limit
        self.true_alarms: list[str] = []
        self._falls = 0
        self._sensors = Sensors(self.prime, seed)

    @property
    def mode(self) -> Mode:
        """The mode in force."""
        return self.prime.loop.snapshot.mode

    def run(self, duration: float) -> None:
        """Go through the modes at random for `duration` [s]."""
        end = self.time + duration
        while self.time < end:
            self.load_hands()
            self.ask(Intent.DAMP)
            self.wait(self.dice.uniform(0.1, 3.0))
            if self.dice.random() < 0.2:
                self.wait(COME_DOWN)
                self.ask(Intent.FORCE_ZERO_TORQUE)
                self.wait(self.dice.uniform(0.1, 4.0))
                self.ask(Intent.DAMP)
                self.wait(0.5)
            self.ask(Intent.LOAD)
            if self.dice.random() < 0.2:
                self.wait(self.dice.uniform(0.1, 6.0))  # cancelled half way
                continue
            self.finish_standby()
            self.wait(self.dice.uniform(0.0, 2.0))
            if self.dice.random() < 0.9:
                self.ask(Intent.START_REMOTE)
                self.stream(self.dice.uniform(2.0, 20.0))

    def load_hands(self) -> None:
        """Set payloads, and sometimes a push."""
        push = HARDEST_PUSH if self.dice.random() < 0.3 else 0.0
        for hand in HANDS:
            force = self.generator.uniform(-push, push, 3)
            force[2] -= self.dice.uniform(0.0, HEAVIEST)
            simulation = self.prime.hardware.members[0].component
            simulation.apply_wrench(hand, force.tolist(), [0.0] * 3)  # type: ignore[attr-defined]

    def ask(self, intent: Intent) -> None:
        """Request a mode, and note the answer."""
        answer = self.prime.modes.handle(intent, self.time)
        if not answer.accepted:
            self.alarms.append(f"{self.time:.3f} s: {answer.message}")
        self.wait(PERIOD)

    def finish_standby(self) -> None:
        """Wait until the ready pose is reached."""
        end = self.time + LONGEST_STANDBY
        while self.mode is Mode.STANDBY and self.time < end:
            progress = self.prime.loop.snapshot.progress
            if progress is not None and progress.finished:
                return
            self.wait(0.1)

    def stream(self, duration: float) -> None:
        """Send a motion at some rate, with jitter."""
        remote = self.prime.controllers["remote_policy_controller"]
        motion, interval = Motion(self.prime, self.generator), self.dice.choice([0.02, 0.05])
        end = self.time + duration
        while self.mode is Mode.REMOTE and self.time < end:
            command = motion.command(self.time)
            remote.receive(RemoteCommand(command.array, self.time))
            self.wait(interval * self.dice.uniform(0.5, 1.5))

    def wait(self, duration: float) -> None:
        """Let the robot run."""
        for _ in range(max(round(duration * RATE), 1)):
            self.tick()

    def tick(self) -> None:
        """Run one tick, and note its results."""
        self.time += PERIOD
        loop = self.prime.loop
        loop.heartbeat()
        loop.tick(self.time, PERIOD, float)
        snapshot = self.prime.modes.observe(self.time)
        self.ticks[snapshot.mode] += 1
        ratio = np.abs(snapshot.state.velocity / self.prime.description.limits.velocity).max()
        self.fastest[snapshot.mode] = max(self.fastest[snapshot.mode], float(ratio))
        if snapshot.fall is not None and snapshot.fall.number > self._falls:
            self._falls = snapshot.fall.number
            alarms = self.true_alarms if self._sensors.too_fast else self.alarms
            alarms.append(f"{self.time:.3f} s: {snapshot.fall.reason}")
            self.prime.modes.clear_fault(self.time)


def figures_of(day: Day) -> dict[str, Figure]:
    """Return the figures of the report."""
    factor = velocity_safety_factor()
    values = {
        "simulated": single(day.time / HOUR, "h"),
        "false alarms": single(len(day.alarms), ""),
    }
    values["falls of joints that were too fast"] = single(len(day.true_alarms), "")
    for mode in (m for m in Mode if day.ticks[m]):
        values[f"{mode.name}: time"] = single(day.ticks[mode] * PERIOD / 60.0, "min")
        values[f"{mode.name}: fastest / safety limit"] = single(day.fastest[mode] / factor, "")
    limited = day.prime.loop.limits.counts
    values["ticks in which something was limited"] = single(float(limited.sum()), "")
    return values


def main() -> None:
    """Entry point."""
    parser = arguments(__doc__)
    parser.add_argument("--hours", type=float, default=8.0, help="simulated; default 8")
    parser.add_argument("--seed", type=int, default=1, help="repeats a run; default 1")
    options = parser.parse_args()
    day = Day(options.seed)
    day.run(QUICK if options.quick else options.hours * HOUR)
    for alarm in day.alarms[:20]:
        note(f"seed {options.seed}, {alarm}")
    report(f"False alarms (goal: 0), seed {options.seed}", figures_of(day), options.json)
    sys.exit(1 if day.alarms else 0)


if __name__ == "__main__":
    main()
