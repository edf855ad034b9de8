"""Measure the time from a request on /control_mode to the statement of the new mode.

A running client requests DAMPING and STANDBY from the real control process (mock hardware) in
turn, each time at a random phase of its loop, and waits for the statement with the new mode and a
new switch number. Between two such requests the same client sends one to a bare rclpy process,
which answers the same message at once on another topic. Goal for the median: one period of
the loop and 3 ms.
"""

from __future__ import annotations

import random
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from humanoid_control_msgs.msg import ControlMode
from humanoid_control_msgs.srv import ClearFault

from benchmarks.support.figures import Figure, arguments, figure, note, report
from benchmarks.support.processes import Client, client, control, peer, running
from benchmarks.support.program_runner import Running, isolated
from humanoid_bringup.options import Backend
from humanoid_control_common.rules.reason_codes import FELL_TO_SAFETY

RATES = (50, 200, 1000)  # [Hz]
SWITCHES = 250  # at every rate
PAUSE = 0.04  # [s] at most between two requests: two periods of the slowest loop
REQUEST_TOPIC, REPLY_TOPIC = "/bare/request", "/bare/reply"


class ModeClient:
    """One pair of topics for modes: sends requests and keeps the last answer."""

    def __init__(self, client: Client, request_topic: str, reply_topic: str) -> None:
        self.client = client
        self.request_topic, self.reply_topic = request_topic, reply_topic
        self.answer: ControlMode | None = None
        self.arrival = 0.0  # [s] of `answer`
        self._requests = client.node.create_publisher(ControlMode, request_topic, 10)
        client.node.create_subscription(ControlMode, reply_topic, self._receive, 10)

    def _receive(self, message: ControlMode) -> None:
        if message.controller_name:  # else it is a request
            self.arrival = time.perf_counter()
            self.answer = message

    def ask(self, mode: int, process: Running) -> float | None:
        """Request `mode`. Return the time [s] until the answer with a new number.

        None if the loop fell to safety: a tick was late, and no request is served before
        `clear_fault`.
        """
        before = -1 if self.answer is None else self.answer.switch_number

        def answered() -> bool:
            answer = self.answer
            return answer is not None and (
                (answer.mode == mode and answer.switch_number > before) or self.fallen
            )

        begin = time.perf_counter()
        self._requests.publish(ControlMode(mode=mode))
        self.client.spin_until(answered, f"answer on {self.reply_topic}", process)
        return None if self.fallen else self.arrival - begin

    @property
    def fallen(self) -> bool:
        """True if the last answer states a fall."""
        return self.answer is not None and FELL_TO_SAFETY.name in self.answer.reason_codes

    def clear(self, process: Running) -> None:
        """Clear the fault after a fall."""
        clear = self.client.node.create_client(ClearFault, "/mode_manager/clear_fault")
        self.client.spin_until(clear.service_is_ready, "clear_fault", process)
        cleared = clear.call_async(ClearFault.Request())
        self.client.spin_until(cleared.done, "answer of clear_fault", process)
        self.client.spin_until(lambda: not self.fallen, "statement after the fall", process)

    def connect(self, process: Running) -> None:
        """Wait until both topics are connected."""
        node = self.client.node
        own = 1 if self.request_topic == self.reply_topic else 0
        self.client.spin_until(
            lambda: (
                node.count_subscribers(self.request_topic) > own
                and node.count_publishers(self.reply_topic) > own
            ),
            f"peer on {self.request_topic}",
            process,
        )


def other_mode(answer: ControlMode | None) -> int:
    """Return the next mode to request."""
    stated = None if answer is None else answer.mode
    return int(ControlMode.STANDBY if stated == ControlMode.DAMPING else ControlMode.DAMPING)


def measure(command: list[str], switches: int) -> tuple[list[float], list[float]]:
    """Return the times [s] of the control process `command` and of the bare one, in turns."""
    bare_command = peer("mode_responder", REQUEST_TOPIC, REPLY_TOPIC)
    ours: list[float] = []
    bare: list[float] = []
    with (
        isolated(),
        client() as node,
        running(bare_command) as bare_process,
        running(command) as process,
    ):
        door = ModeClient(node, "/control_mode", "/control_mode")
        bare_door = ModeClient(node, REQUEST_TOPIC, REPLY_TOPIC)
        door.connect(process)
        bare_door.connect(bare_process)
        node.spin_until(lambda: door.answer is not None, "statement", process)
        for i in range(-10, switches):  # the first switches are not counted
            mode = other_mode(door.answer)
            node.spin_for(random.uniform(0.0, PAUSE), process)
            bare_time = bare_door.ask(mode, bare_process)
            node.spin_for(random.uniform(0.0, PAUSE), process)
            time_taken = door.ask(mode, process)
            if time_taken is None or bare_time is None:
                note("the loop fell to safety: cleared, this request is not counted")
                door.clear(process)
            elif i >= 0:
                bare.append(bare_time)
                ours.append(time_taken)
    return ours, bare


def main() -> None:
    """Entry point."""
    options = arguments(__doc__).parse_args()
    rates, switches = ((50,), 10) if options.quick else (RATES, SWITCHES)
    figures: dict[str, Figure] = {}
    with TemporaryDirectory() as folder:
        for rate in rates:
            command = control(Path(folder), Backend.MOCK, rate)
            ours, bare = measure(command, switches)
            figures[f"request to statement, {rate} Hz"] = figure(ours, "ms", 1e3, tail=True)
            figures[f"bare request and reply, beside {rate} Hz"] = figure(
                bare, "ms", 1e3, tail=True
            )
    title = "Mode switch (goals for the median: 23, 8 and 4 ms at 50, 200 and 1000 Hz)"
    report(title, figures, options.json)


if __name__ == "__main__":
    main()
