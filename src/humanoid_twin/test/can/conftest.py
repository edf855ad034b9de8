"""A bus with nodes that record their frames."""

from dataclasses import dataclass, field

import pytest

from humanoid_twin.can.bus import TX_QUEUE, VirtualCanBus
from humanoid_twin.can.controller import CanController, ControllerReport
from humanoid_twin.can.frame import CanFrame

MILLISECOND = 1_000_000  # [ns]


@dataclass
class Node:
    controller: CanController = field(init=False)
    got: list[tuple[int, CanFrame]] = field(default_factory=list)
    reports: list[tuple[int, ControllerReport]] = field(default_factory=list)

    def receive(self, frame: CanFrame, now: int) -> None:
        self.got.append((now, frame))

    def on_report(self, report: ControllerReport, now: int) -> None:
        self.reports.append((now, report))

    @property
    def frames(self) -> list[CanFrame]:
        return [frame for _, frame in self.got]

    @property
    def causes(self) -> list[str]:
        return [report.cause.name for _, report in self.reports]


@dataclass
class Bench:
    bus: VirtualCanBus = field(default_factory=VirtualCanBus)

    def node(self, *, queue_length: int = TX_QUEUE, restarts: bool = True) -> Node:
        node = Node()
        node.controller = self.bus.attach(
            node.receive, on_report=node.on_report, queue_length=queue_length, restarts=restarts
        )
        return node

    def run(self, milliseconds: float) -> None:
        self.bus.run(self.bus.now + round(milliseconds * MILLISECOND))

    def send(self, node: Node, identifier: int, data: bytes = bytes(8)) -> bool:
        return node.controller.send(CanFrame(identifier, data), self.bus.now)


@pytest.fixture
def bench() -> Bench:
    return Bench()
