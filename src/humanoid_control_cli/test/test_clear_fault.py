"""`hc clear-fault` waits for a reset by the code of the answer, not by its text."""

from collections.abc import Callable
from typing import Any

import pytest
from humanoid_control_msgs.srv import ClearFault

from humanoid_control_cli.errors import RefusedError
from humanoid_control_cli.robot.operator_requests import clear_faults

CLEARED = ClearFault.Response(success=True, message="faults cleared")


class Answers:
    """A client whose service gives these answers, one after the other; no time passes."""

    timeout = 1.0

    def __init__(self, *answers: ClearFault.Response) -> None:
        self.left = list(answers)

    def call(self, _kind: Any, _service: str, _request: Any) -> ClearFault.Response:
        return self.left.pop(0)

    def subscribe(self, *_: Any) -> None:
        """No source reports."""

    def wait(self, condition: Callable[[], object], _timeout: float) -> bool:
        return bool(condition())


def refused(message: str, *codes: str) -> ClearFault.Response:
    return ClearFault.Response(success=False, message=message, reason_codes=codes)


def test_hc_clear_fault_waits_for_a_sent_reset_with_any_text() -> None:
    client: Any = Answers(refused("any text", "RESET_SENT", "MOTORS_BEING_ENABLED"), CLEARED)
    assert clear_faults(client) == "faults cleared"


def test_refusal_with_another_code_is_raised_at_once_even_with_the_same_text() -> None:
    client: Any = Answers(refused("reset sent, but", "REQUIRES_SAFE_MODE"), CLEARED)
    with pytest.raises(RefusedError, match="reset sent, but"):
        clear_faults(client)
    assert client.left == [CLEARED]
