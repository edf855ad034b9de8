"""A serial adapter that speaks slcan, as a bus.

python-can's own slcan reads byte by byte and writes line by line, which takes a third of a core at
our rates, drops the adapter's refusals, and fails at bytes that are not text.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

from humanoid_control_common.machine.machine import Machine
from humanoid_devices_can.bus.bus import (
    Bus,
    BusSettings,
    CanFrame,
    InvalidFrame,
    Received,
    check_identifier,
)
from humanoid_devices_can.bus.confirmations import Confirmations
from humanoid_devices_can.bus.error_frames import ControllerState
from humanoid_devices_can.bus.problems import closed_problem, full_queue, sending_problem
from humanoid_devices_can.bus.serial_lines import (
    LONGEST_LINE,
    REFUSAL,
    SerialLines,
    SerialPortError,
)
from humanoid_devices_can.bus.serial_port import OpenPort
from humanoid_devices_can.bus.slcan_answers import SlcanAnswers
from humanoid_devices_can.bus.slcan_lines import (
    ACCEPTED,
    ASK_FLAGS,
    ASK_VERSION,
    CLOSE,
    FLAGS,
    VERSION,
    flags_of,
    frame_lines,
    frame_of,
    no_frame,
    opening_commands,
)

ASK_AGAIN: Final = 0.1  # [s] until a request whose answer is missing is repeated
SETTLE: Final = 0.1  # [s] an adapter may take to answer the commands that open it
LOST: Final = 3.0  # [s] after which an answer counts as lost; an exchange takes as long at most


class SlcanBus(Bus):
    """A bus behind a serial adapter. See Bus.

    Args:
        settings: the channel is the path of the port, or PATH@BAUD_RATE. The option
            `sleep_after_open` is a time [s] for adapters that restart when they are opened; those
            with a USB interface of their own don't. The other options are arguments of `open_port`.
        machine: has the clock.
        open_port: opens the port.
        shared: another process has the bus open too: the adapter's channel stays open at the end.

    Raises OSError, ValueError, TypeError, SerialPortError.
    """

    def __init__(
        self, settings: BusSettings, machine: Machine, open_port: OpenPort, *, shared: bool = False
    ) -> None:
        self._settings, self._clock, self._shared = settings, machine.clock, shared
        # Not returned yet. None: the answer about the version.
        self._arrived: deque[Received | None] = deque()
        self._answers = SlcanAnswers(machine.clock)
        self._has_version = False  # the adapter answers the request for its version
        self._confirmations = Confirmations()
        options: dict[str, Any] = dict(settings.options)
        restart = options.pop("sleep_after_open", 0.0)
        port = open_port(settings.channel, **options)
        self._lines = SerialLines(port, machine, self._take_line, self._take_noise)
        try:
            machine.sleep(restart)
            self._lines.write(opening_commands(settings.bitrate))
            self._settle()
        except (SerialPortError, ValueError):
            self._lines.close()  # not the channel: another process may use it
            raise

    def _settle(self) -> None:
        """Receive the answers to the opening commands, so that they count as no frame's."""
        self._lines.write(ASK_VERSION)
        self._ask_flags()
        self._lines.read_until(lambda: self._answers.has_flags, SETTLE)
        self._arrived.clear()
        self._answers.note_open()

    @property
    def confirmed(self) -> float:  # type: ignore[override]  # it follows the adapter
        """See Bus."""
        return self._confirmations.until

    def set_confirming(self, on: bool) -> bool:
        """See Bus: the adapter answers a request behind all frames that it has received."""
        if on:  # an answer to an earlier exchange may be on its way: it confirms that one only
            self._confirmations.lost(self._clock() - LOST)
        return self._has_version

    def ask(self) -> bool:
        """See Bus. Do nothing while an answer is missing."""
        now = self._clock()
        if self._confirmations.may_give(now - ASK_AGAIN):
            self._confirmations.given(ASK_VERSION, now)
            try:
                self._lines.write(ASK_VERSION)
            except SerialPortError as error:
                raise sending_problem(error, self._settings) from error
        return True

    def receive(self, timeout: float) -> Received | None:
        """See Bus."""
        self._await(timeout)
        if not self._arrived:
            return None
        received = self._arrived.popleft()
        self._confirm()
        return received

    def receive_all(self, timeout: float) -> Sequence[Received]:
        """See Bus."""
        self._await(timeout)
        found = []
        while self._arrived:
            if (received := self._arrived.popleft()) is not None:
                found.append(received)
            self._confirm()
        return found

    def send(self, frame: CanFrame) -> None:
        """See Bus. Never waits."""
        if not self.send_all([frame]):
            raise full_queue(self._settings)

    def send_all(self, frames: Sequence[CanFrame]) -> int:
        """See Bus."""
        for identifier, _ in frames:
            check_identifier(identifier, self._settings)
        try:
            sent = frames[: self._room()]
            if sent:
                self._lines.write(frame_lines(sent, extended=self._settings.extended))
                self._answers.note_sent(len(sent))
        except SerialPortError as error:
            raise sending_problem(error, self._settings) from error
        return len(sent)

    def state(self) -> ControllerState:
        """See Bus."""
        return self._answers.state()

    def refused(self) -> int:
        """See Bus."""
        return self._answers.refused

    def close(self) -> None:
        """See Bus."""
        with suppress(SerialPortError):  # gone already
            if not self._shared:
                self._lines.write(CLOSE)
        with suppress(OSError):
            self._lines.close()

    def _room(self) -> int:
        """Return how many frames may be sent now. Asks for the status flags now and then."""
        if not self._lines.is_sent:
            self._lines.push()
        if self._lines.is_sent and self._answers.is_request_due:
            self._ask_flags()
        return self._answers.room() if self._lines.is_sent else 0

    def _ask_flags(self) -> None:
        self._answers.note_request()
        self._lines.write(ASK_FLAGS)

    def _await(self, timeout: float) -> None:
        """Read until something has arrived, the adapter has confirmed, or `timeout` [s] is over.

        Raises AdapterLostError.
        """
        if self._arrived:
            return
        confirmed = self._confirmations.until
        try:
            self._lines.read_until(
                lambda: bool(self._arrived) or self._confirmations.until != confirmed, timeout
            )
        except SerialPortError as error:
            raise closed_problem(error, self._settings) from error

    def _take_line(self, line: bytes) -> None:
        if line.endswith(REFUSAL):
            self._answers.take_refused()
            line = line[:-1]
        first = line[:1]
        if line in ACCEPTED:
            self._answers.take_accepted()
        elif first == FLAGS:
            try:
                self._answers.take_flags(flags_of(line))
            except ValueError:
                self._arrived.append(no_frame(line))
        elif first in VERSION:
            self._has_version = True
            self._arrived.append(None)
            self._confirm()
        elif (received := frame_of(line, self._settings)) is not None:
            self._arrived.append(received)

    def _take_noise(self, noise: bytes) -> None:
        text = f"no end of line in {LONGEST_LINE} bytes that begin with {noise[:8]!r}"
        self._arrived.append(InvalidFrame(f"the adapter sent no frame: {text}"))

    def _confirm(self) -> None:
        """Note the answers about the version before which nothing waits."""
        while self._arrived and self._arrived[0] is None:
            self._arrived.popleft()
            self._confirmations.confirm(ASK_VERSION)
