"""Faults of the client and of the server of the joint stream while the robot follows it.

The control process detects none of them and states no fall: it stops following. The truth of the
virtual robot must show that.
"""

from __future__ import annotations

import select
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from fault_campaign.kinds.kind import Kind, Outcome, RefutedError, RequiredRecord, Scene
from fault_campaign.programs import TESTS
from fault_campaign.robot_joints import TargetJoint
from fault_campaign.scenario import Start
from humanoid_bringup.executables import command_line, parameters_file
from humanoid_bringup.joint_stream import CONTROLLER, server
from humanoid_control_common.configuration.config import read_yaml
from humanoid_control_common.robot.robot_namespace import ROOT
from humanoid_control_common.rules.modes import Mode

HORIZON: Final = 0.15  # [s] of each command: seven ticks of Prime, or a client's hold-up
TIMEOUT: Final = 30.0  # [s] until the robot follows, or a program has ended
Strike = Callable[["subprocess.Popen[bytes]", "subprocess.Popen[bytes]"], None]


def _struck(strike: Strike) -> Callable[[Scene], None]:
    """Let the robot follow a client of a server; `strike` gets both programs."""

    def inject(scene: Scene) -> None:
        observer, ends = scene.robot.observer, scene.ends
        folder = Path(ends.enter_context(TemporaryDirectory()))
        controllers = scene.robot.joints.package.controllers_file
        process = server(read_yaml(controllers), controllers, folder, ROOT)
        if not observer.loads(parameters_file(folder, CONTROLLER), TIMEOUT):
            raise RefutedError("the controller of the joint stream cannot be loaded")
        ends.callback(observer.unload, TIMEOUT)
        serving = _started(command_line(process), ends)
        words = [sys.executable, "-m", "fault_campaign.disturbing.stream_client", str(HORIZON)]
        client = _started(words, ends)
        following = observer.within(
            TIMEOUT, lambda: _has_told(client) and observer.now.mode == Mode.REMOTE
        )
        if not following:
            raise RefutedError(f"the robot does not follow: {observer.now.status_message}")
        scene.begins()
        strike(serving, client)

    return inject


def _has_told(client: subprocess.Popen[bytes]) -> bool:
    """Return True if the client has printed that the robot follows."""
    assert client.stdout is not None
    return bool(select.select([client.stdout], [], [], 0.0)[0])


def _started(words: list[str], ends: ExitStack) -> subprocess.Popen[bytes]:
    """Start a program that runs until `ends` is closed."""
    it = subprocess.Popen(words, stdout=subprocess.PIPE, cwd=TESTS)

    def end() -> None:
        with it:  # closes its output
            it.kill()

    ends.callback(end)
    return it


def _mend(scene: Scene) -> None:
    scene.robot.observer.request(Mode.DAMPING)
    scene.robot.observer.comes_to(Mode.DAMPING, TIMEOUT)
    scene.ends.close()


def _of_the_ring(scene: Scene) -> Sequence[str]:
    """Return the joints with the gains of their mode: their target follows them instead."""
    return scene.robot.joints.of(TargetJoint.RING)


def _client(number: signal.Signals) -> Callable[[Scene], None]:
    return _struck(lambda _, client: client.send_signal(number))


def _server(number: signal.Signals) -> Callable[[Scene], None]:
    return _struck(lambda serving, _: serving.send_signal(number))


_kind: Final = partial(
    Kind,
    mend=_mend,
    kernel=True,
    alone=True,
    starts=(Start.STANDBY_FINISHED,),
    outcome=Outcome.OFF,
    filed=RequiredRecord.NOTHING,
    spared=_of_the_ring,
    requests_modes=True,
    watched=0.8,
)

KINDS: Final = (
    _kind(
        name="joint stream: client killed",
        within=0.2,
        inject=_client(signal.SIGKILL),
        quick=True,
    ),
    _kind(name="joint stream: client frozen", within=0.4, inject=_client(signal.SIGSTOP)),
    _kind(name="joint stream: update that is none", within=0.2, inject=_client(signal.SIGUSR1)),
    _kind(name="joint stream: server killed", within=0.4, inject=_server(signal.SIGKILL)),
    _kind(name="joint stream: server stopped", within=0.4, inject=_server(signal.SIGSTOP)),
)
