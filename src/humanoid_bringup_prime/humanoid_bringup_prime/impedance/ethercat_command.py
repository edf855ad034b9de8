"""The `ethercat` program of an IgH master, as a transport. UNVERIFIED on hardware.

For those who run another EtherCAT driver: nothing behind it checks mode and number.
"""

import itertools
import os
import subprocess
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from humanoid_bringup_prime.impedance.values import Batch, Refusal, Reply
from humanoid_devices_erob.sdo import SdoObject, SdoResult, SdoStatus
from humanoid_devices_erob.wire.objects import GATE_SWITCH


class EthercatCommand:
    """A process per object and a worker per drive: IgH serves drives side by side."""

    patience = 20.0  # [s]; an object takes about 0.12 s through IgH at 50 Hz

    def __init__(self, slaves: Sequence[int]) -> None:
        self._workers = {slave: ThreadPoolExecutor(1, "sdo", _calm) for slave in slaves}

    def obstacle(self) -> str:
        """See Transport."""
        return ""

    def send(self, batch: Batch, refusal: Refusal, done: Callable[[Reply], None]) -> None:
        """See Transport."""
        results: list[SdoResult] = []
        finished = itertools.count(1)

        def work(slave: int) -> None:
            mine = [item for item in batch.objects if item.slave == slave]
            results.extend(_serve(mine, batch.write, refusal))
            if next(finished) == len(batch.slaves):
                done(Reply(results))

        for slave in sorted(batch.slaves):
            self._workers[slave].submit(work, slave)

    def close(self, refusal: Refusal) -> None:
        """Factory gains for the next bring-up, as users of such a driver expect."""
        for slave, worker in self._workers.items():
            worker.submit(_serve, [SdoObject(slave, *GATE_SWITCH, bytes(4))], True, refusal)
        for worker in self._workers.values():
            worker.shutdown()


def _calm() -> None:
    """A process has the priority of the thread that starts it: none, whatever ours is."""
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def _serve(items: list[SdoObject], write: bool, refusal: Refusal) -> list[SdoResult]:
    """All downloads, then all uploads. Nothing follows a failure: the order of gains matters."""
    results: list[SdoResult] = []
    for verb in ("download", "upload") if write else ("upload",):
        results, obstacle = [], ""
        for item in items:
            results.append(_run(verb, item, obstacle or refusal()))
            if results[-1].status is not SdoStatus.DONE:
                obstacle = "not tried after a failure"
        if obstacle:
            break
    return results


def _run(verb: str, item: SdoObject, obstacle: str) -> SdoResult:
    if obstacle:
        return SdoResult(item, SdoStatus.REFUSED, message=obstacle)
    command = ["ethercat", "-p", str(item.slave), verb, "--type", "int32", f"0x{item.index:04X}"]
    value = [str(int.from_bytes(item.data, "little", signed=True))] if verb == "download" else []
    words = [*command, str(item.subindex), *value]
    try:
        run = subprocess.run(words, capture_output=True, text=True, timeout=5.0, check=True)
        read = int(value[0] if value else run.stdout.split()[-1])  # "0x00000013 19"
    except (OSError, subprocess.SubprocessError, ValueError, IndexError) as error:
        message = (getattr(error, "stderr", None) or str(error)).strip()
        return SdoResult(item, SdoStatus.ABORTED, message=message)
    data = read.to_bytes(4, "little", signed=True)
    same = not item.data or data == item.data
    found = SdoObject(item.slave, item.index, item.subindex, data)
    return SdoResult(found, SdoStatus.DONE if same else SdoStatus.DIFFERENT)
