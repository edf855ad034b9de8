"""`hc new-robot`: its options."""

from pathlib import Path
from typing import Annotated

import typer


def new_robot(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the robot: mine.")],
    description: Annotated[
        str,
        typer.Argument(
            metavar="DESCRIPTION",
            help="Its links and joints, such as a CAD export: a URDF or xacro file, or its folder.",
        ),
    ],
    into: Annotated[
        Path,
        typer.Option(
            file_okay=False, metavar="FOLDER", help="Folder of the new package, made if needed."
        ),
    ] = Path(),
) -> None:
    """Write a package that brings up a robot from CAD, in MuJoCo and as a mock.

    It has copies of the description and its meshes. Its README has the commands to build and run
    it.
    """
    from humanoid_bringup.custom_description import find_description
    from humanoid_control_cli.new_robot.package_files import package_files

    package = package_files(name, find_description(description))
    folder = into / package.name
    if folder.exists():
        raise typer.BadParameter(f"{folder} exists already", param_hint="'NAME'")
    package.write(into)
    for warning in package.warnings:
        typer.echo(f"warning: {warning}", err=True)
    joints = ", ".join(package.joints)
    typer.echo(
        f"{folder}: {len(package.contents)} files, joints {joints}; next: {folder}/README.md"
    )
