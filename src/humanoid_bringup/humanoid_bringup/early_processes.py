"""The processes of a bring-up that load while its plan is made. Nothing slow is imported here."""

from pathlib import Path

from humanoid_bringup import virtual_robot
from humanoid_bringup.control_process import control_process
from humanoid_bringup.options import Backend, Options, Process


def early_processes(options: Options, folder: Path) -> list[Process]:
    """Return those processes of `plan` that the robot's first joint states wait for longest.

    Each further one would delay them: there may be two processors.
    """
    if options.backend is Backend.TWIN:
        options = virtual_robot.as_real(options, folder)
    return [control_process(options, folder)]
