"""The commands of `hc`. Whatever is slow to load is loaded by the command that needs it."""

from __future__ import annotations

import typer

from humanoid_control_cli.commands import bag, black_box, machine, robot, sdo, twin
from humanoid_control_cli.commands.calibrate import calibrate
from humanoid_control_cli.commands.up import up

app = typer.Typer(
    help="Humanoid Control: bring Prime up, look at it, change its mode.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,  # main.py tells errors
    rich_markup_mode=None,
)
for command in (
    up,
    robot.mode,
    robot.stop,
    robot.clear_fault,
    robot.down,
    robot.heartbeat,
    robot.status,
    bag.view,
    bag.record,
    bag.replay,
    calibrate,
    machine.decode,
    machine.doctor,
    machine.version,
):
    app.command()(command)
app.add_typer(black_box.app, name="blackbox")
app.add_typer(sdo.app, name="sdo")
app.add_typer(twin.app, name="twin")
