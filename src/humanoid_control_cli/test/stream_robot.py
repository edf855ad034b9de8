"""Support of tests of a robot with a joint stream: its clients, and the records of its ticks."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import numpy as np
import pytest
from numpy.typing import NDArray

from humanoid_control_cli.client import Client
from humanoid_control_cli.mode_client import ModeClient
from humanoid_control_cli.robot.operator_requests import clear_faults
from humanoid_control_cli.statements import StampedStatement
from humanoid_control_common.rules.modes import Intent, Mode
from humanoid_control_common.rules.reason_codes import FELL_TO_SAFETY
from humanoid_control_common.tick_records.record_file import RecordStore
from humanoid_control_common.tick_records.record_layout import Word
from humanoid_control_common.tick_records.record_types import Records
from humanoid_joint_client import Control, JointClient, JointStates, Status
from humanoid_joint_client import joint_stream_pb2 as pb
from humanoid_joint_client.address import local_address
from src.humanoid_control_cli.test.conftest import Starter, wait_until

TIMEOUT: Final = 60.0  # [s]; a dead-man's switch


def brought_up(starter: Starter, backend: str, controllers: Path, *words: str) -> Starter:
    """Prime with a joint stream; `words` are further options of `hc up`."""
    options = ("--no-viewer", "--no-black-box", "--joint-stream", "--controllers", str(controllers))
    starter.up = starter.hc("up", backend, *options, *words)
    starter.up.wait_for("Prime is up")
    with JointClient(local_address(int(starter.environment["ROS_DOMAIN_ID"]))) as at_once:
        assert len(at_once.config) == 14
    return starter


def standing_by(robot: Starter, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModeClient]:
    """A robot in a finished STANDBY, or still in REMOTE. The test during which it falls fails."""
    for name, value in robot.environment.items():
        monkeypatch.setenv(name, value)
    with Client(TIMEOUT) as operator:
        modes = ModeClient(operator)
        if has_fallen(modes):  # in a test before
            clear_faults(operator)
        if modes.statement().mode is not Mode.REMOTE:
            modes.request(Intent.DAMP)
            modes.wait_for_ready_pose(modes.request(Intent.LOAD))
        yield modes
        assert not has_fallen(modes)


def has_fallen(modes: ModeClient) -> bool:
    return FELL_TO_SAFETY.name in next_statement(modes).reason.codes


def connected(robot: Starter) -> Iterator[JointClient]:
    domain = int(robot.environment["ROS_DOMAIN_ID"])
    with JointClient(local_address(domain), timeout=TIMEOUT) as found:
        wait_until(lambda: is_free(found), "the end of an earlier client's lease")
        yield found


def until(states: Iterator[JointStates], condition: Callable[[JointStates], object]) -> JointStates:
    """Return the first state that meets `condition`; states come as long as the robot runs."""
    gives_up = time.monotonic() + TIMEOUT
    for state in states:
        if condition(state):
            return state
        assert time.monotonic() < gives_up, state
    raise AssertionError("the states have ended")


def until_executed(states: Iterator[JointStates], key: int, since: JointStates) -> JointStates:
    """Return the first state in which update `key` is in force, executed first after `since`.

    Without `since` this could be an earlier client's update of the same key.
    """
    return until(states, lambda it: it.applied_key == key and it.applied > since.acquired)


@contextmanager
def sending(control: Control, position: NDArray[np.float64]) -> Iterator[None]:
    """Send `position` [rad] again and again, from another thread."""
    over = threading.Event()

    def send() -> None:
        while not over.is_set():
            control.send(position, horizon=0.9)
            over.wait(0.02)

    with ThreadPoolExecutor(1) as pool:
        sent = pool.submit(send)
        try:
            yield
        finally:
            over.set()
        sent.result()


def ends(control: Control, kind: type[Exception]) -> str:
    """Return the text with which the robot ends the stream; the next `send` raises it."""

    def ended() -> bool:
        return control._stream is None or control._stream.done()

    wait_until(ended, "the end of the stream")
    with pytest.raises(kind) as caught:
        control.send([0.0] * 14)
    return str(caught.value)


def client_address() -> str:
    return local_address(int(os.environ["ROS_DOMAIN_ID"]))


def next_statement(modes: ModeClient) -> StampedStatement:
    """Return a statement made after this call."""
    modes._client.wait(lambda: False, 0.05)  # statements that have arrived before
    before = modes.statement()
    modes._client.wait(lambda: modes.statement() != before, TIMEOUT)
    return modes.statement()


def is_free(client: JointClient) -> bool:
    """Return True if the lease is free. The check takes it for a short time."""
    token = client.call("AcquireLease", pb.LeaseRequest()).token
    return (
        bool(token) and client.call("ReturnLease", pb.LeaseToken(token=token)).status == Status.OK
    )


class Ticks:
    """The commands that the control loop has written, from its records."""

    def __init__(self) -> None:
        store = RecordStore()
        self.file = store.attach(store.files()[-1])

    @property
    def number(self) -> int:
        """Return the number of the latest tick."""
        return self.file.words[Word.TICKS]

    def since(self, number: int) -> Records:
        """Return the ticks after `number`."""
        slots, last = self.file.ticks, self.number
        assert last - number < len(slots), "the records have gone round"
        found = slots[[at % len(slots) for at in range(number, last)]].copy()
        assert (found["begin"] == found["end"]).all()
        return found


def is_stiff(ticks: Records) -> NDArray[np.bool_]:
    """Return for each tick whether any joint was stiff."""
    return np.asarray(ticks["command"][:, 3] != 0.0).max(axis=1)  # type: ignore[no-any-return]


def stiff_beyond(ticks: Records, end: int) -> int:
    """Return the number of stiff ticks begun after `end` [ns]; the tick before had ended then."""
    return int((is_stiff(ticks)[1:] & (ticks["monotonic"][:-1] >= end)).sum())
