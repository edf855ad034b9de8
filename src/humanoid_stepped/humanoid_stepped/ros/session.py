"""The ROS session of a simulated process."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from humanoid_control_common.configuration.config import Document, read_yaml
from humanoid_control_common.configuration.parameter_files import parameters_of, sections
from humanoid_controller_manager.ros.process.ros_session import RosSession
from humanoid_stepped.ros.bus import Bus
from humanoid_stepped.ros.executor import SteppedExecutor
from humanoid_stepped.ros.node import Log, SteppedNode
from humanoid_stepped.stepped_machine import SteppedMachine


class SteppedSession(RosSession):
    """Makes nodes in memory. See RosSession.

    Args:
        files: the parameter files of the process.
        log: takes what its nodes log.
    """

    def __init__(
        self, machine: SteppedMachine, bus: Bus, files: Sequence[Document], log: Log
    ) -> None:
        super().__init__()
        self.machine: SteppedMachine = machine
        self.nodes: list[SteppedNode] = []
        self._bus, self._files, self._log = bus, files, log

    def node(self, name: str, *, services: bool, arguments: Sequence[str] = ()) -> Any:
        """See RosSession."""
        own = [
            read_yaml(Path(word)) for flag, word in pairwise(arguments) if flag == "--params-file"
        ]
        node = SteppedNode(
            name,
            process=self.machine.process,
            machine=self.machine,
            bus=self._bus,
            parameters=_parameters(f"/{name}", [*self._files, *own]),
            log=self._log,
        )
        self.nodes.append(node)
        return node

    def executor(self, _service_period: float = 0.0) -> Any:
        """See RosSession: no request of a service waits."""
        return SteppedExecutor(self.machine)

    def forward_logging(self, node: Any) -> None:
        """See RosSession: PythonLog takes the logging of all processes."""

    def close(self) -> None:
        """See RosSession."""
        for node in self.nodes:
            node.destroy_node()
        self.nodes.clear()


def _parameters(node: str, files: Sequence[Document]) -> dict[str, Any]:
    """Return the parameters of `node` by dotted names; a later file overrides an earlier one."""
    found: dict[str, Any] = {}
    for file in files:
        for section in sections(file):
            if section.is_for(node):
                found |= dict(_dotted(parameters_of(file, section)))
    return found


def _dotted(values: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    pairs: list[tuple[str, Any]] = []
    for name, value in values.items():
        if isinstance(value, Mapping):
            pairs += _dotted(value, f"{prefix}{name}.")
        else:
            pairs.append((f"{prefix}{name}", value))
    return pairs
