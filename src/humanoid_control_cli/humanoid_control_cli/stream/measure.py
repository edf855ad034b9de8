"""Measures the joint stream of a robot."""

import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from threading import Event
from typing import Final

from humanoid_joint_client import JointClient, JointStates, NoAnswerError
from humanoid_joint_client.newest_values import NewestValues

KEPT: Final = 1000  # states that wait: none is lost in a short delay
SILENCE: Final = 5.0  # [s] without a state after which the measurement ends


def measured(
    address: str, certificate: Path | None, token: str, seconds: float, *, hold: bool
) -> Iterator[str]:
    """Yield lines about the stream of states; with `hold` a command answers each state.

    Raises JointStreamError.
    """
    with JointClient(address, certificate=certificate, token=token) as client:
        round_trip = client.synchronize().round_trip * 1e-6
        yield f"{len(client.config)} joints, states at {client.config.state_rate:g} Hz"
        arrived = Event()
        with (
            client.control("hc stream latency") if hold else nullcontext() as control,
            # The states of the activation are no part of the measurement.
            client.open_states(0, KEPT, arrived.set) as values,
        ):
            states = _timely(values, arrived)
            pose = next(states).position
            ends, count = time.monotonic() + seconds, 0
            for _ in states:
                count += 1
                if control is not None:
                    control.send(pose)
                if time.monotonic() > ends:
                    break
            if control is not None:
                counters = control.finish().counters
                yield f"{counters.received} commands, {counters.applied} executed"
        yield f"{count} states, {count / seconds:.1f} Hz; shortest round trip {round_trip:.2f} ms"
        report = client.latency
        if hold:
            yield f"one way: {report.one_way}"
            yield f"echo: {report.echo}"
        yield f"state gap: {report.state_gap}"


def _timely(values: NewestValues[JointStates], arrived: Event) -> Iterator[JointStates]:
    """Yield the states, whose arrival sets `arrived`. Raises NoAnswerError if they stop."""
    while True:
        arrived.clear()
        if not values.is_ready and not arrived.wait(SILENCE):
            raise NoAnswerError(
                f"no state for {SILENCE:g} s: the control loop stands still, see `hc status`"
            )
        state = next(values, None)
        if state is None:
            raise NoAnswerError("the stream of states has ended")
        yield state
