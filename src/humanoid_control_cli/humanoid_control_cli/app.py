"""The commands of `hc`. A command imports slow modules only when it runs."""

from typing import Annotated

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

app = typer.Typer(
    cls=FiniteNumbers,
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


ROBOT = (up, mode, stop, clear_fault, down, heartbeat, status, load, unload, move, jog, teach, play)
DATA = (view, record, replay)
MACHINE = (calibrate, decode, doctor, new_controller, new_robot, srdf, version)
for command in (*ROBOT, *DATA, *MACHINE):
    app.command()(command)
app.add_typer(black_box, name="blackbox")
app.add_typer(friction, name="friction")
app.add_typer(payload, name="payload")
app.add_typer(policy, name="policy")
app.add_typer(sdo, name="sdo")
app.add_typer(stream, name="stream")
app.add_typer(twin, name="twin")
