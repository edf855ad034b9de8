"""The layout in docs/foxglove names existing panels, topics and fields."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from humanoid_recording.topics import OBSERVATIONS

LAYOUT = Path(__file__).parents[3] / "docs/foxglove/prime.json"
# Names of panels in layouts, and the place of their message paths.
PANELS = {
    "3D": (),
    "DiagnosticSummary": ("topicToRender",),
    "Indicator": ("path",),
    "Plot": ("paths",),
    "RawMessages": ("topicPath",),
    "StateTransitions": ("paths",),
    "Tab": (),
}
PATH = re.compile(r"(?P<topic>(?:/\w+)+)(?:\{(?P<filter>\w+)[!=<>]+[^}]+\})?(?P<fields>[\w.\[\]]*)")


@pytest.fixture(scope="module")
def layout() -> dict:
    return json.loads(LAYOUT.read_text())


def message_paths(layout: dict) -> list[str]:
    found = []
    for name, config in layout["configById"].items():
        for key in PANELS[name.partition("!")[0]]:
            value = config[key]
            found += [value] if isinstance(value, str) else [path["value"] for path in value]
    return found


def panels_shown(node: object) -> Iterator[str]:
    if isinstance(node, str):
        yield node
    else:
        yield from panels_shown(node["first"])
        yield from panels_shown(node["second"])


def test_every_panel_is_shown_once(layout: dict) -> None:
    shown = list(panels_shown(layout["layout"]))
    shown += [tab["layout"] for tab in layout["configById"]["Tab!plots"]["tabs"]]
    assert sorted(shown) == sorted(layout["configById"])


def test_every_topic_and_field_exists(layout: dict, bags) -> None:
    paths = message_paths(layout)
    assert len(paths) > 50
    for path in paths:
        match = PATH.fullmatch(path)
        assert match, path
        message = bags.messages[match["topic"]]
        fields = message.get_fields_and_field_types()
        if match["filter"]:
            assert match["filter"] in fields, path
        if match["fields"]:
            name, index = re.fullmatch(r"\.(\w+)(\[\d+\])?", match["fields"]).groups()
            assert ("sequence" in fields[name]) == bool(index), path


def test_the_model_comes_from_topics_that_are_recorded(layout: dict) -> None:
    scene = layout["configById"]["3D!prime"]
    recorded = {f"/{name}" for name in OBSERVATIONS}
    assert scene["layers"]["prime"]["topic"] in recorded
    assert set(scene["topics"]) <= recorded


def test_plots_name_the_joints_in_their_order(layout: dict) -> None:
    bringup = Path(__file__).parents[2] / "humanoid_bringup_prime"
    hardware = yaml.safe_load((bringup / "config/prime_hardware.yaml").read_text())
    plots = [c for name, c in layout["configById"].items() if name.startswith("Plot!")]
    assert plots
    for plot in plots:
        assert [path["label"] for path in plot["paths"]] == hardware["joints"]["all_joints"]
        indices = [int(path["value"].split("[")[1].rstrip("]")) for path in plot["paths"]]
        assert indices == list(range(14))
