"""The permission to go on, for a program that its parent process starts before its turn.

Such a program loads while the parent checks the configuration and other programs start. The parent
permits each step by a byte in a pipe, whose number is in the environment. The end of the pipe
means that the parent has ended, or that nothing will be started.
"""

import os
from enum import Enum
from typing import Final

VARIABLE: Final = "HUMANOID_START_PIPE"


class Step(Enum):
    """A step that a program waits for. The value is the byte in the pipe."""

    CONFIGURE = b"c"  # its configuration is checked and written: it may read it
    START = b"s"  # it is its turn: what it needs is there


class StartPermission:
    """Of this program, from its parent process. Make it once."""

    def __init__(self) -> None:
        number = os.environ.pop(VARIABLE, "")  # not for the programs that this one starts
        self._pipe = int(number) if number else None
        if self._pipe is not None:
            os.set_inheritable(self._pipe, False)

    def wait_for(self, step: Step) -> bool:
        """Wait until the parent permits `step`; False: the program must end, having done nothing.

        True at once in a program that was started in its turn.
        """
        while self._pipe is not None:
            byte = os.read(self._pipe, 1)
            if not byte:
                return False
            if byte == Step.START.value:
                os.close(self._pipe)
                self._pipe = None
            if byte == step.value:
                break
        return True
