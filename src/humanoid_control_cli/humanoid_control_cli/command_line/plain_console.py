"""A console of rich on standard output whose texts have no control characters."""

import sys
from collections.abc import Iterable
from types import SimpleNamespace
from typing import IO, cast

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from humanoid_control_cli.command_line.printed_output import PrintedOutput
from humanoid_control_common.machine.output import printable


class PlainConsole(Console):
    """Writes its own colours, and texts as they are: without markup, see `printable`."""

    def __init__(self) -> None:
        out, file = sys.stdout, None
        if isinstance(out, PrintedOutput):  # not where it is closed
            file = SimpleNamespace(
                write=out.write_controls,
                flush=out.flush,
                isatty=out.isatty,
                fileno=out.fileno,
                encoding=out.encoding,
            )
        super().__init__(file=cast(IO[str] | None, file), markup=False, highlight=False)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """See rich."""
        for segment in super().render(renderable, options):
            text = segment.text if segment.control else printable(segment.text, "\n")
            yield segment._replace(text=text)
