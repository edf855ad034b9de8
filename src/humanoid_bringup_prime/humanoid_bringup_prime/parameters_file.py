"""Parameters of a node as the file that `--params-file` takes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml


def write_parameters(
    folder: Path, node: str, parameters: Mapping[str, Any], namespace: str = ""
) -> Path:
    """A ROS parameters file for `node`; launch would give inline values to every node."""
    path = folder / f"{node}.yaml"
    name = f"{namespace}/{node}" if namespace else node
    content = {name: {"ros__parameters": dict(parameters)}}
    path.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return path
