"""Measures the joint stream of a robot."""

import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Final

from humanoid_joint_client import JointClient

KEPT: Final = 1000  # states that wait: none is lost in a short delay


def measured(
    address: str, certificate: Path | None, token: str, seconds: float, *, hold: bool
) -> Iterator[str]:
    """Yield lines about the stream of states; with `hold` a command answers each state.

    Raises JointStreamError.
    """
    with JointClient(address, certificate=certificate, token=token) as client:
        round_trip = client.synchronize().round_trip * 1e-6
        yield f"{len(client.config)} joints, states at {client.config.state_rate:g} Hz"
        states = client.states(keep=KEPT)
        pose = next(states).position
        with client.control("hc stream latency") if hold else nullcontext() as control:
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
