"""Programs that are started before their turn: they load, and wait for the permission to go on."""

import os
import subprocess
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Self

from humanoid_bringup.supervision.processes import Child, Command, OrphanReaper
from humanoid_control_common.machine.start_permission import VARIABLE, Step


class EarlyChild(Child):
    """A process whose program uses a StartPermission. Raises what Child raises."""

    def __init__(
        self, command: Command, reaper: OrphanReaper, environment: Mapping[str, str]
    ) -> None:
        reader, writer = os.pipe()
        self._permissions = os.fdopen(writer, "wb", buffering=0)
        try:
            super().__init__(command, reaper, {**environment, VARIABLE: str(reader)}, (reader,))
        except BaseException:
            self.dismiss()
            raise
        finally:
            os.close(reader)

    def permit(self, step: Step) -> None:
        """Permit the program to go on."""
        with suppress(BrokenPipeError):  # it has ended
            self._permissions.write(step.value)
        if step is Step.START:
            self._permissions.close()

    def dismiss(self) -> None:
        """Let the program end: it takes no step that was not permitted."""
        self._permissions.close()


class EarlyStart:
    """Starts `commands` at once, as EarlyChild.

    At the end of the context it kills those whose turn has not come.
    """

    def __init__(
        self, commands: Iterable[Command], reaper: OrphanReaper, environment: Mapping[str, str]
    ) -> None:
        self._waiting: dict[Command, EarlyChild] = {}
        for command in commands:
            # Started again in its turn, where the error is reported.
            with suppress(OSError, subprocess.SubprocessError):
                self._waiting[command] = EarlyChild(command, reaper, environment)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for child in self._waiting.values():
            child.dismiss()
            child.reap()

    def permit_configuration(self) -> None:
        """Permit all to read their configuration."""
        for child in self._waiting.values():
            child.permit(Step.CONFIGURE)

    def take(self, command: Command) -> Child | None:
        """Return the process of `command`, if it was started, and permit it to start."""
        child = self._waiting.pop(command, None)
        if child is not None:
            child.permit(Step.START)
        return child

    def dismiss(self) -> list[Child]:
        """Return the processes that wait, which end now."""
        children: list[Child] = []
        for child in self._waiting.values():
            child.dismiss()
            children.append(child)
        self._waiting.clear()
        return children
