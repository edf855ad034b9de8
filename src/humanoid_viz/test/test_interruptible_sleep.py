from __future__ import annotations

import os
import signal
import threading

from humanoid_viz.nodes.interruptible_sleep import InterruptibleSleep

FOREVER = 3600.0  # [s]; pytest's time limit ends a sleep without end


def test_a_sleep_is_ended_by_another_thread():
    waker = InterruptibleSleep()
    threading.Thread(target=waker.wake).start()
    waker.sleep(FOREVER)
    assert not waker.stopping


def test_a_wake_before_the_sleep_ends_it_and_any_number_of_them_never_blocks():
    waker = InterruptibleSleep()
    for _ in range(1_000):
        waker.wake()
    waker.sleep(FOREVER)


def test_a_signal_ends_a_sleep_and_requests_the_stop():
    waker = InterruptibleSleep()
    before = signal.signal(signal.SIGUSR1, waker.stop)
    try:
        os.kill(os.getpid(), signal.SIGUSR1)
        waker.sleep(FOREVER)
        assert waker.stopping
    finally:
        signal.signal(signal.SIGUSR1, before)
