"""Send mode requests to the mode manager, and wait for its answers."""

from collections import deque
from typing import Any, Final

from humanoid_control_msgs.msg import ControlMode, StandbyState

from humanoid_control_cli.client import MODE_MANAGER, Client
from humanoid_control_cli.errors import NoAnswerError, RefusedError, no_control_process
from humanoid_control_cli.statements import PendingRequest, Refusal, Replaced, StampedStatement
from humanoid_control_common.middleware.qos_profiles import LATCHED
from humanoid_control_common.rules.modes import FORCE, MODE_OF_INTENT, Intent, Mode
from humanoid_control_common.rules.reasons import Reason

TOPIC: Final = "control_mode"
UNNAMED: Final = "_NODE_NAME_UNKNOWN_"  # in rmw_dds_common's graph
QUIT: Final = "humanoid_control/mode/quit"
KNOWN_MODES: Final = frozenset(Mode)


class ModeClient:
    """Follows the mode in force and requests others."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.latest: StampedStatement | None = None
        self._new: deque[StampedStatement] = deque(maxlen=1000)
        self._stated_at = 0.0  # [s] of the client's clock
        # Made before any message arrives: a request published once the listener is known here, but
        # not this publisher there, would be late by the 3 s of a DDS heartbeat.
        self._requests = client.node.create_publisher(ControlMode, TOPIC, 10)
        client.subscribe(ControlMode, TOPIC, self._on_control_mode)

    def statement(self) -> StampedStatement:
        """Return the latest statement. Raises NoAnswerError if none arrives."""
        if not self._client.wait(lambda: self.latest, self._client.timeout):
            raise self._client.no_control_process()
        assert self.latest is not None
        return self.latest

    def silence(self) -> float:
        """Return the time [s] since the latest statement arrived."""
        return self._client.clock() - self._stated_at

    def request(self, intent: Intent) -> StampedStatement:
        """Request a mode. Returns the statement that it is in force, or was already.

        Raises RefusedError with the reason, NoAnswerError without an answer.
        """
        self.statement()
        if not self._client.wait(self._is_matched, self._client.timeout):
            raise self._client.no_control_process()
        pending = PendingRequest(intent, self.statement())
        self._new.clear()
        word = FORCE if intent is Intent.FORCE_ZERO_TORQUE else ""
        mode = int(MODE_OF_INTENT[intent])
        self._requests.publish(ControlMode(mode=mode, status_message=word))
        answers: list[StampedStatement | Refusal | Replaced] = []

        def answered() -> bool:
            while self._new and not answers:
                answer = pending.answer(self._new.popleft())
                answers.extend([answer] if answer else [])
            return bool(answers)

        if not self._client.wait(answered, self._client.timeout):
            overtaken = "; another request was answered meanwhile" if pending.overtaken else ""
            raise NoAnswerError(
                f"no answer to {intent.value} within {self._client.timeout:g} s; "
                f"in force is {self.latest}{overtaken}"
            )
        if isinstance(answers[0], Replaced):
            raise RefusedError(
                f"the answer to {intent.value} was replaced by that of another request; in force "
                f"is {self.latest}"
            )
        if isinstance(answers[0], Refusal):
            raise RefusedError(answers[0].reason.text, answers[0].reason.codes)
        return answers[0]

    def wait_for_ready_pose(self, since: StampedStatement) -> None:
        """Wait until the pose sequence of STANDBY, in force since `since`, is finished.

        A simulation may be slow: there is no time limit while STANDBY is stated and its controller
        publishes its progress. Raises RefusedError if STANDBY is left, NoAnswerError if the
        statements or the controller's states stop.
        """
        finished: list[bool] = []
        heard, reported_at = 0, self._client.clock()

        def note(state: Any) -> None:
            nonlocal heard, reported_at
            heard, reported_at = heard + 1, self._client.clock()
            # The topic is latched: the first message may belong to an earlier STANDBY. Its stamp
            # does not show it, as the robot's clock may have been set.
            if heard > 1 and state.is_finished:
                finished.append(True)

        topic = f"{since.controller}/state"
        self._client.subscribe(StandbyState, topic, note, LATCHED)
        timeout = self._client.timeout
        while not self._client.wait(lambda: finished or self._left(Mode.STANDBY), timeout):
            if self.silence() > timeout:  # not without a mode manager: its nodes leave one by one
                raise no_control_process(timeout, self._client.other_robots())
            if self._stated_at - reported_at > timeout:  # STANDBY is still stated
                name = self._client.node.resolve_topic_name(topic)
                raise NoAnswerError(
                    f"{since.in_force}, but '{since.controller}' has published no progress on "
                    f"{name} for {timeout:g} s: whether it is finished is unknown"
                )
        if not finished:
            raise RefusedError(f"STANDBY was left unfinished, in force is {self.latest}")

    def quit(self, *, wait: bool) -> str:
        """Request the end of the control process; `wait` until it has ended. Returns its answer.

        Raises RefusedError with the reason, NoAnswerError without an answer, or if it doesn't end.
        """
        self.statement()
        try:
            message = self._client.trigger(QUIT)
        except NoAnswerError:
            if not self.is_gone():
                raise
            message = "ended without an answer"  # which may get lost when the process goes
        if wait and not self._client.wait(self.is_gone, self._client.timeout):
            raise NoAnswerError(
                f"still running {self._client.timeout:g} s after saying '{message}'"
            )
        return message

    def is_gone(self) -> bool:
        """Return True once no mode manager publishes statements."""
        publishers = self._client.node.get_publishers_info_by_topic(TOPIC)
        # Names are discovered after publishers: one without a name may be the mode manager.
        return not {publisher.node_name for publisher in publishers} & {MODE_MANAGER, UNNAMED}

    def _is_matched(self) -> bool:
        """Return True if all subscribers, with the mode manager among them, are matched."""
        listeners = self._client.node.get_subscriptions_info_by_topic(TOPIC)
        known = any(listener.node_name == MODE_MANAGER for listener in listeners)
        return known and self._requests.get_subscription_count() >= len(listeners)

    def _left(self, mode: Mode) -> bool:
        return self.latest is not None and self.latest.mode is not mode

    def _on_control_mode(self, message: Any) -> None:
        if not message.controller_name or message.mode not in KNOWN_MODES:
            return  # a request, maybe our own
        self.latest = StampedStatement(
            Mode(message.mode),
            message.controller_name,
            Reason(message.status_message, tuple(message.reason_codes)),
            message.switch_number,
            _nanoseconds(message.header.stamp),
        )
        self._stated_at = self._client.clock()
        self._new.append(self.latest)


def _nanoseconds(stamp: Any) -> int:
    return int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec)
