"""docs/access.md against the real graph: the page lists every input of the robot."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from test_support.programs.prepared_programs import PreparedPrograms

from humanoid_bringup.options import Backend, Options, Process
from humanoid_bringup.plan import plan
from humanoid_devices_erob.ros import attach as attach_drives
from humanoid_devices_mujoco.ros import attach as attach_simulator

ROOT = Path(__file__).parents[3]
OURS = re.compile(r"\| (?P<names>`/[^|]*) \| (?P<kind>topic|service|native service) \|")
# Services of every node. A change of parameters has no effect after the start of a node.
OF_ROS = frozenset(
    {
        "describe_parameters",
        "get_parameter_types",
        "get_parameters",
        "list_parameters",
        "set_parameters",
        "set_parameters_atomically",
        "get_type_description",
    }
)


def listed() -> dict[str, set[str]]:
    """Names by kind, as the page lists them."""
    page = (ROOT / "docs/access.md").read_text(encoding="utf-8")
    found: dict[str, set[str]] = {"topic": set(), "service": set(), "native service": set()}
    for row in OURS.finditer(page):
        found[row["kind"]].update(re.findall(r"`(/[^`]+)`", row["names"]))
    return found


def everything(folder: Path) -> list[Process]:
    """A mock robot with all options, and the impedance manager of the real one."""
    (folder / "real").mkdir()
    mock = Options(
        backend=Backend.MOCK, viewer_port=0, heartbeats={"desk": 60.0}, enable_gamepad=True
    )
    real = Options(backend=Backend.REAL, backends="ec", viewer=False)
    wanted = [p for p in plan(mock, folder) if p.label != "gamepad"]  # a program from ROS
    wanted += [p for p in plan(real, folder / "real") if p.label == "impedance"]
    return wanted


def topics_of(observer: Any, name: str, namespace: str) -> set[str]:
    """Return the subscriptions of a node."""
    found = observer.get_subscriber_names_and_types_by_node(name, namespace)
    return {topic for topic, _ in found}


def services_of(observer: Any, name: str, namespace: str) -> set[str]:
    """Return the services and actions of a node, without those of ROS itself."""
    found = observer.get_service_names_and_types_by_node(name, namespace)
    whose = f"{namespace.rstrip('/')}/{name}"
    return {service for service, _ in found} - {f"{whose}/{kind}" for kind in OF_ROS}


@pytest.fixture
def graph(
    domain: int,
    client: Any,
    running_type: type[Any],
    command_line: Callable[[Process], list[str]],
    tmp_path: Path,
    prepared: PreparedPrograms,
) -> Iterator[Callable[[], tuple[set[str], set[str]]]]:
    """The inputs of the control process and of the programs beside it."""
    running = [
        running_type(command_line(process), tmp_path / f"{process.label}.txt", prepared)
        for process in everything(tmp_path)
    ]
    host: Any = SimpleNamespace(node=client.node)
    attach_drives(host, Mock())
    attach_simulator(host, Mock())

    def look() -> tuple[set[str], set[str]]:
        topics: set[str] = set()
        services: set[str] = set()
        for name, namespace in client.node.get_node_names_and_namespaces():
            services |= services_of(client.node, name, namespace)
            if name != "operator":  # it only observes
                topics |= topics_of(client.node, name, namespace)
        return topics, services

    yield look
    for process in running:
        process.end()


def test_every_topic_and_service_that_can_be_used_is_on_the_page(graph: Any, client: Any) -> None:
    page = listed()
    assert min(map(len, page.values())) > 0

    def all_there() -> bool:
        topics, services = graph()
        return page["topic"] <= topics and page["service"] <= services

    try:
        client.until(all_there, "everything the page lists")
    except AssertionError:
        topics, services = graph()
        missing = (page["topic"] - topics) | (page["service"] - services)
        raise AssertionError(f"on the page, but nowhere: {sorted(missing)}") from None
    topics, services = graph()
    assert topics - page["topic"] == set()
    assert services - page["service"] - page["native service"] == set()
