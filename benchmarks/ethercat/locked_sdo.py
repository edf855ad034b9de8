"""SDO writes by a thread per slave beside process data, under a lock with priority for the latter.

This is the usual solution for a library that allows one thread only: every pysoem call takes one
lock, and an SDO waits while the process data thread waits for the lock. For comparison only.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import pysoem

from humanoid_devices_erob.mailbox.sdo import SdoObject
from humanoid_devices_erob.protocol import pdo

SDO_TIMEOUT: Final = 100_000  # [us]
FRAME_TIMEOUT: Final = 20_000  # [us]
SYNC_FREQUENCY: Final = 50.0  # [Hz] of SYNC0: slower than any rate here, which the drives allow
BRING_UP_PERIOD: Final = 0.001  # [s]
CONVERGENCE: Final = 400  # more frames than the clocks need to agree


class ProcessDataFirst:
    """A lock that goes to the process data thread at its next release."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._not_urgent = threading.Event()
        self._not_urgent.set()

    @contextmanager
    def urgent(self) -> Iterator[None]:
        """Hold the lock, in the process data thread."""
        self._not_urgent.clear()
        with self._lock:
            self._not_urgent.set()
            yield

    @contextmanager
    def not_urgent(self) -> Iterator[None]:
        """Hold the lock, in any other thread."""
        while True:
            self._not_urgent.wait()
            with self._lock:
                if self._not_urgent.is_set():
                    yield
                    return


class LockedMaster:
    """A master in SAFEOP, whose process data one thread exchanges at `rate` [Hz]."""

    def __init__(self, interface: str, rate: float) -> None:
        pysoem.settings.timeouts.ret = FRAME_TIMEOUT
        self._master = pysoem.Master()
        self._master.always_release_gil = True
        self._master.open(interface)
        self._master.sdo_read_timeout = self._master.sdo_write_timeout = SDO_TIMEOUT
        self._lock = ProcessDataFirst()
        self._period = 1.0 / rate
        self._stop = threading.Event()
        self._configure()
        self._thread = threading.Thread(target=self._cycle, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the exchange; the slaves are in INIT then."""
        self._stop.set()
        self._thread.join()
        self._master.state = pysoem.INIT_STATE
        self._master.write_state()
        self._master.close()

    def write(self, objects: Sequence[SdoObject]) -> float:
        """Write and read back all objects, one thread per slave. Return the time [s]."""
        slaves = sorted({it.slave for it in objects})
        begun = time.perf_counter()
        _in_threads(
            [lambda slave=slave: self._serve(slave, objects) for slave in slaves]  # type: ignore[misc]
        )
        return time.perf_counter() - begun

    def _serve(self, slave: int, objects: Sequence[SdoObject]) -> None:
        own = [it for it in objects if it.slave == slave]
        device = self._master.slaves[slave]
        for it in own:
            with self._lock.not_urgent():
                device.sdo_write(it.index, it.subindex, it.data)
        for it in own:
            with self._lock.not_urgent():
                data = device.sdo_read(it.index, it.subindex)
            assert data == it.data, it

    def _configure(self) -> None:
        master = self._master
        if master.config_init() <= 0:
            raise RuntimeError("the ring does not answer")
        master.manual_state_change = True
        for slave in master.slaves:
            slave.config_func = self._map
        master.config_map()
        master.config_dc()
        for slave in master.slaves:
            slave.dc_sync(True, round(1e9 / SYNC_FREQUENCY))
        self._go_to(pysoem.SAFEOP_STATE)
        for _ in range(CONVERGENCE):
            self._exchange()
            time.sleep(BRING_UP_PERIOD)
        self._go_to(pysoem.OP_STATE)

    def _map(self, position: int) -> None:
        pdo_setup(self._master.slaves[position])

    def _go_to(self, state: int) -> None:
        self._master.state = state
        self._master.write_state()
        for _ in range(CONVERGENCE):
            self._exchange()
            if self._master.state_check(state, 1000) == state:
                return
        raise RuntimeError(f"the slaves do not reach state {state}")

    def _exchange(self) -> None:
        self._master.send_processdata()
        self._master.receive_processdata(FRAME_TIMEOUT)

    def _cycle(self) -> None:
        deadline = time.perf_counter()
        while not self._stop.is_set():
            with self._lock.urgent():
                self._exchange()
            deadline += self._period
            time.sleep(max(0.0, deadline - time.perf_counter()))


def pdo_setup(slave: pysoem.CdefSlave) -> None:
    """Map the process data of one drive, one SDO after the other."""
    for assign, mapping, entries in (
        (0x1C12, 0x1600, pdo.RX_MAPPING),
        (0x1C13, 0x1A00, pdo.TX_MAPPING),
    ):
        slave.sdo_write(assign, 0, bytes(1))
        slave.sdo_write(mapping, 0, bytes(1))
        for number, entry in enumerate(entries, start=1):
            slave.sdo_write(mapping, number, entry.packed.to_bytes(4, "little"))
        slave.sdo_write(mapping, 0, bytes([len(entries)]))
        slave.sdo_write(assign, 1, mapping.to_bytes(2, "little"))
        slave.sdo_write(assign, 0, bytes([1]))


def _in_threads(tasks: Sequence[Callable[[], None]]) -> None:
    failures: list[BaseException] = []

    def guarded(task: Callable[[], None]) -> None:
        try:
            task()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(task,)) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
