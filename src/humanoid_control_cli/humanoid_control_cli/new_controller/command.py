"""`hc new-controller`: its options."""

from pathlib import Path
from typing import Annotated

import typer


def new_controller(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Name of package and controller: sway_controller.")
    ],
    into: Annotated[
        Path,
        typer.Option(
            file_okay=False, metavar="FOLDER", help="Folder of the new package, made if needed."
        ),
    ] = Path(),
    robot: Annotated[
        str, typer.Option(metavar="NAME", help="The robot whose controllers file is copied.")
    ] = "prime",
) -> None:
    """Write a package with a working controller, to be changed.

    It holds the pose found at activation. Its README has the commands to build and run it.
    """
    from humanoid_bringup.robot_package import find_robot
    from humanoid_control_cli.new_controller.package_files import package_files
    from humanoid_control_common.configuration.config import read_yaml
    from humanoid_control_common.whole_file import make_folder

    controllers = read_yaml(find_robot(robot).controllers_file).content
    contents = package_files(name, controllers)
    folder = into / name
    if folder.exists():
        raise typer.BadParameter(f"{folder} exists already", param_hint="'NAME'")
    make_folder(folder, {path: text.encode() for path, text in contents.items()})
    typer.echo(f"{folder}: {len(contents)} files; next: {folder}/README.md")
