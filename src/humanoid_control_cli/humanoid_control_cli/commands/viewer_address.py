"""The options that say where a viewer listens, of every command that starts one."""

from __future__ import annotations

from typing import Annotated

import typer

Host = Annotated[str, typer.Option(help="Address the viewer listens on.")]
Port = Annotated[
    int, typer.Option(min=0, max=65535, help="Port of the viewer, or the next free one.")
]
