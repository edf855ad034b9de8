"""The commands of `hc`. A command imports slow modules only when it runs."""

from collections.abc import Callable
from typing import Annotated, Any, Final

import typer

from humanoid_control_cli.bag.command import record, replay, view
from humanoid_control_cli.black_box.command import app as black_box
from humanoid_control_cli.calibrate.command import calibrate
from humanoid_control_cli.command_line.finite_numbers import FiniteNumbers
from humanoid_control_cli.controllers.command import load, unload
from humanoid_control_cli.doctor.command import decode, doctor, version
from humanoid_control_cli.domain import NAMESPACE, choose_namespace
from humanoid_control_cli.friction.command import app as friction
from humanoid_control_cli.motion.command import jog, move
from humanoid_control_cli.new_controller.command import new_controller
from humanoid_control_cli.new_robot.command import new_robot
from humanoid_control_cli.payload.command import app as payload
from humanoid_control_cli.policy.command import app as policy
from humanoid_control_cli.robot.command import clear_fault, down, heartbeat, mode, status, stop
from humanoid_control_cli.sdo.command import app as sdo
from humanoid_control_cli.srdf.command import srdf
from humanoid_control_cli.stream.command import app as stream
from humanoid_control_cli.teach.command import play, teach
from humanoid_control_cli.twin.command import app as twin
from humanoid_control_cli.up.command import up


class Commands(FiniteNumbers):
    """All commands; the help lists them in groups."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """See click.Group."""
        groups: dict[str, list[tuple[str, str]]] = {}
        it: Any  # typer's commands, which know their group
        for name, it in self.commands.items():
            rows = groups.setdefault(it.rich_help_panel, [])
            rows.append((name, it.get_short_help_str(formatter.width - 20)))
        for title, rows in groups.items():
            with formatter.section(title):
                formatter.write_dl(rows)


app = typer.Typer(
    cls=Commands,
    help="Humanoid Control: bring up a robot, observe it, change its mode.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,  # main.py prints errors
    rich_markup_mode=None,
)


@app.callback()
def choose_robot(
    namespace: Annotated[
        str,
        typer.Option(
            envvar=NAMESPACE,
            metavar="NAMESPACE",
            help="The robot's, if several share a ROS domain: /left.",
            show_default="the root",
        ),
    ] = "",
) -> None:
    """Humanoid Control: bring up a robot, observe it, change its mode."""
    choose_namespace(namespace)


# The commands of each group, and groups of commands by name; as in docs/commands.md.
GROUPS: Final[dict[str, tuple[tuple[Callable[..., None], ...], dict[str, typer.Typer]]]] = {
    "Run a robot": ((up, mode, status, stop, clear_fault, down, heartbeat, view), {}),
    "Move it": (
        (move, jog, teach, play, load, unload),
        {"payload": payload, "policy": policy, "friction": friction, "stream": stream},
    ),
    "Record and explain": ((record, replay, decode, doctor, version), {"blackbox": black_box}),
    "Set up a robot": ((calibrate, new_robot, new_controller, srdf), {"sdo": sdo}),
    "The virtual robot alone": ((), {"twin": twin}),
}
for title, (commands, groups) in GROUPS.items():
    for command in commands:
        app.command(rich_help_panel=title)(command)
    for name, group in groups.items():
        app.add_typer(group, name=name, rich_help_panel=title)
