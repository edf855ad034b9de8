"""Options for the viewer's address, of every command that starts one."""

from pathlib import Path
from typing import Annotated

import typer

TokenFile = Annotated[
    Path | None,
    typer.Option(
        exists=True,
        dir_okay=False,
        resolve_path=True,
        metavar="FILE",
        help="Token that the viewer requires.",
        show_default="a new one, if the viewer listens to other machines",
    ),
]
Host = Annotated[str, typer.Option(help="Address the viewer listens on.")]
Port = Annotated[
    int, typer.Option(min=0, max=65535, help="Port of the viewer, or the next free one.")
]
