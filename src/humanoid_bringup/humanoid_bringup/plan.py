"""Processes of a bring-up with their parameters, for launch files and `hc up`."""

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final
from xml.etree import ElementTree

from pydantic import Field

from humanoid_bringup import joint_stream, virtual_robot
from humanoid_bringup.calibration.robot import Robot, read_robot
from humanoid_bringup.control_process import configured_control, has_erobs
from humanoid_bringup.controllers_file import node_section, unused_sections
from humanoid_bringup.executables import write_parameters
from humanoid_bringup.options import ALL, Backend, Options, Process
from humanoid_bringup.preflight.gamepad import joystick_number
from humanoid_bringup.robot_package import Program, RobotPackage
from humanoid_bringup.viewers import viewer_processes
from humanoid_control_common.configuration.config import (
    Document,
    StrictModel,
    read_text,
    read_yaml,
    validate,
)
from humanoid_control_common.configuration.parameter_files import refuse_lists_without_type
from humanoid_control_common.description.inertias import check_inertias
from humanoid_control_common.description.mesh_files import Meshes, check_meshes
from humanoid_control_common.description.mujoco_input import mujoco_input
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.calibration import are_calibrated
from humanoid_control_common.rules.modes import Mode
from humanoid_devices_erob.impedance.names import NODE
from humanoid_devices_erob.impedance.wiring import (
    manager_parameters,
    mode_gains,
    with_mode_gains,
)
from humanoid_motion.collision.semantic_description import (
    parse_disabled_pairs,
    refuse_other_robot,
    refuse_unknown_links,
)

SIMULATION_UPDATE_RATE: Final = 200  # [Hz]; five physics steps of 1 ms each
_SIMULATED: Final = frozenset({Backend.MUJOCO, Backend.TWIN})
INITIAL_CONTROLLERS: Final = {
    Mode.ZERO_TORQUE: "zero_torque_controller",
    Mode.DAMPING: "damping_controller",
}


# Parameters of the manager that the bring-up gives it, and the options that choose them.
_OF_BRING_UP: Final = {
    "robot_description": "--description",
    "robot_description_semantic": "--srdf",
    "backend": "the backend",
    "calibration": "--calibrate",
}


class _ManagerSection(StrictModel, extra="ignore"):
    update_rate: int = Field(gt=0)  # the control process knows the range


def plan(options: Options, folder: Path) -> list[Process]:
    """Return the processes of a bring-up, in the order they are started.

    The parameters made here are written into `folder`, which must outlive the processes.

    Raises ConfigError for whatever is wrong in files and options.
    """
    if options.backend is Backend.TWIN:
        stack, urdf = _stack(virtual_robot.as_real(options, folder), folder, options.backend)
        return virtual_robot.with_virtual_robot(stack, options, folder, urdf)
    return _stack(options, folder, options.backend)[0]


def description(options: Options) -> str:
    """Return the URDF of a bring-up; its backend is not TWIN.

    Raises what `plan` raises.
    """
    with TemporaryDirectory() as folder:
        return _stack(options, Path(folder), options.backend)[1]


def impedance_parameters(options: Options) -> Document:
    """Return all parameters of an impedance manager that is started alone, without a bring-up.

    Raises ConfigError for a robot without a ring, and for what is wrong in its files.
    """
    document = read_yaml(options.controllers_file or options.robot.controllers_file)
    update_rate = _update_rate(options, document)
    urdf = options.robot.expand(_description_arguments(options, update_rate))
    section = node_section(document, NODE, options.namespace)
    own = manager_parameters(urdf, update_rate, section)
    return Document(section.name, {**section.content, **own}, section.places)


def _check_shapes(urdf: str, *, simulated: bool) -> None:
    """Raise what the processes would: errors are shown before anything starts."""
    meshes = Meshes()
    check_meshes(urdf, meshes)
    if simulated:
        mujoco_input(urdf, meshes)
    else:
        check_inertias(ElementTree.fromstring(urdf), meshes, simulated=False)


def _stack(options: Options, folder: Path, backend: Backend) -> tuple[list[Process], str]:
    """Return the processes, and the URDF they share. The backend of `options` is not TWIN.

    `backend` is the requested one: the black box keeps it with its files.
    """
    controllers = options.controllers_file or options.robot.controllers_file
    document = read_yaml(controllers)
    refuse_lists_without_type(document)
    update_rate = _update_rate(options, document)
    arguments = _description_arguments(options, update_rate)
    urdf = options.robot.expand(arguments)
    if options.robot.ring is not None and not options.full_mit:
        urdf = _with_mode_gains(urdf, options, arguments, update_rate, document)
    _check_shapes(urdf, simulated=backend in _SIMULATED)
    if options.backend is Backend.REAL and options.robot.drive_files is not None:
        # The whole calibration file: a component uses its own joints only.
        _refuse_unknown_ring(read_robot(urdf), options.robot)
    # The first to start is the last to end. The black box records how the others end; the way down
    # of the control process needs the impedance manager.
    processes = []
    if options.black_box:
        processes.append(_black_box(options, controllers))
    program = options.robot.impedance_manager
    if program is not None and has_erobs(options) and not options.calibrate:
        section = node_section(document, NODE, options.namespace)
        own = manager_parameters(urdf, update_rate, section)
        files = (controllers, write_parameters(folder, NODE, own, options.namespace))
        processes.append(_impedance_manager(options, program, files))
    own = {
        "update_rate": update_rate,
        "robot_description": urdf,
        "robot_description_semantic": _srdf(options.srdf or options.robot.srdf_file, urdf),
        "backend": backend.value,
        "calibration": options.calibrate,
        **_initial_controller(options, document),
    }
    processes.append(configured_control(options, folder, own))
    if options.enable_gamepad:
        processes.append(_gamepad(options, folder))
    if options.joint_stream:
        processes.append(joint_stream.server(document, controllers, folder, options.namespace))
    return [*processes, *viewer_processes.processes(options, folder, urdf)], urdf


def _refuse_unknown_ring(found: Robot, robot: RobotPackage) -> None:
    """Raise ConfigError for eRobs of a robot that states no ring: nothing would set their gains."""
    if found.drives and robot.ring is None:
        raise ConfigError(
            f"{', '.join(found.drives)} are eRobs in the description, but no bus of {robot.title} "
            "is of the kind 'ethercat': add it to 'buses' in config/robot.yaml of "
            f"{robot.package}, and the impedance manager"
        )


def _black_box(options: Options, controllers: Path) -> Process:
    return Process(
        "black_box",
        "humanoid_recording",
        "black_box",
        (controllers,),
        required=False,
        outlives=True,
        namespace=options.namespace,
    )


def _impedance_manager(options: Options, program: Program, files: tuple[Path, ...]) -> Process:
    """Return the impedance manager of the robot.

    It is not required: without it the robot goes to DAMPING, and its control process must continue.
    """
    return Process(
        "impedance",
        program.package,
        program.executable,
        files,
        required=False,
        outlives=True,
        namespace=options.namespace,
    )


def notes(options: Options) -> list[str]:
    """Return notes for the operator, to be shown before the bring-up starts."""
    file = read_yaml(options.controllers_file or options.robot.controllers_file)
    return [
        *unused_sections(file, options.namespace),
        *_notes_on_buses(options, file),
        *viewer_processes.notes(options),
    ]


def _notes_on_buses(options: Options, controllers: Document) -> list[str]:
    if options.backend not in (Backend.REAL, Backend.TWIN):
        return []
    texts = []
    if options.backends != ALL:
        present, buses = options.backends, options.robot.buses
        mocked = ", ".join(it.joints for bus, it in buses.items() if bus != present)
        real = buses[present].joints
        if mocked:
            texts.append(f"backends:={present}: {mocked} are mocked, only the {real} are real")
    if options.calibrate:
        texts.append("without impedance manager and stiff modes; next is `hc calibrate`")
    elif options.backend is Backend.REAL and options.robot.drive_files is not None:
        file = options.calibration_file or options.robot.drive_files.calibration
        if wrong := _wrong_angles(options, file, controllers):
            texts.append(
                f"NOT CALIBRATED: {file} {wrong}, and with it limits and poses: run `hc calibrate` "
                "before the first stiff mode"
            )
    return texts


def _wrong_angles(options: Options, file: Path, controllers: Document) -> str:
    """Return which joints on a bus the calibration `file` leaves out; empty if none."""
    calibrated = are_calibrated(file)
    if not any(calibrated.values()):
        return "is a placeholder, so every angle is wrong"
    absent = [name for name, it in calibrated.items() if not it]
    if absent and options.backends != ALL:
        arguments = _description_arguments(options, _update_rate(options, controllers))
        real = read_robot(options.robot.expand(arguments)).on_a_bus
        absent = [name for name in absent if name in real]
    if not absent:
        return ""
    names = ", ".join(absent)
    return (
        f"has direction 1 and offset 0 for {names}, as before a calibration: each angle is doubtful"
    )


def _srdf(file: Path | None, urdf: str) -> str:
    """Return the text of an SRDF, if any.

    Raises ConfigError for one that is missing or wrong, of another robot, or names links that
    `urdf` has not.
    """
    if file is None:
        return ""
    text = read_text(file)
    robot = ElementTree.fromstring(urdf)
    refuse_other_robot(text, robot.get("name", ""), str(file))
    links = [link.get("name", "") for link in robot.findall("link")]
    refuse_unknown_links(parse_disabled_pairs(text, str(file)), links, str(file))
    return text


def _with_mode_gains(
    urdf: str,
    options: Options,
    arguments: Mapping[str, str],
    update_rate: int,
    controllers: Document,
) -> str:
    """Return `urdf` with the gains that the robot's eRobs get in each mode.

    Mocked and simulated eRobs act like real ones with them.

    Raises ConfigError for gains that a drive can't have.
    """
    ring = urdf
    if not has_erobs(options):
        real = {"use_sim": "false", "use_fake_hardware": "false"}
        ring = options.robot.expand({**arguments, **real, "backends": str(options.robot.ring)})
    chosen = node_section(controllers, NODE, options.namespace)
    return with_mode_gains(urdf, mode_gains(ring, update_rate, chosen))


def _gamepad(options: Options, folder: Path) -> Process:
    parameters = {"device_id": joystick_number(options.joystick)}
    files = (write_parameters(folder, "joy_node", parameters, options.namespace),)
    return Process("gamepad", "joy", "joy_node", files, required=False, namespace=options.namespace)


def _update_rate(options: Options, controllers: Document) -> int:
    if options.backend is Backend.MUJOCO:
        return SIMULATION_UPDATE_RATE
    section = node_section(controllers, "controller_manager", options.namespace)
    return validate(_ManagerSection, section).update_rate


def _initial_controller(options: Options, controllers: Document) -> dict[str, str]:
    """Return the parameter for the initial mode; none where that of the controllers file counts.

    Raises ConfigError for a file with a parameter of the bring-up: it would have no effect.
    """
    section = node_section(controllers, "controller_manager", options.namespace)
    for key, option in _OF_BRING_UP.items():
        if key in section.content:
            raise ConfigError(
                f"{section.where((key,))}: '{key}' is given by the bring-up ({option}), so it has "
                "no effect here: remove it"
            )
    mode = Mode.ZERO_TORQUE if options.calibrate else options.initial_mode
    if mode is None:
        if "initial_controller" in section.content:
            return {}
        mode = Mode.ZERO_TORQUE
    return {"initial_controller": INITIAL_CONTROLLERS[mode]}


def _description_arguments(options: Options, update_rate: int) -> dict[str, str]:
    arguments = {
        "backends": options.backends,
        "use_sim": _xml_bool(options.backend is Backend.MUJOCO),
        "use_fake_hardware": _xml_bool(options.backend is Backend.MOCK),
        "real_time_factor": f"{options.real_time_factor:g}",
    }
    if options.robot.ring is not None:
        arguments["ethercat_interface"] = options.ethercat_interface
        # SYNC0 follows the loop by construction: there is no second place to set it.
        arguments["control_frequency"] = str(update_rate)
    for bus, channel in options.can_channels.items():
        arguments |= {f"{bus}_interface": options.can_interface, f"{bus}_channel": channel}
    files = options.robot.drive_files
    if files is not None:  # the files that are checked are those in force, whatever xacro's default
        arguments["hardware_config"] = str(options.hardware_config or files.hardware)
        arguments["calibration_file"] = str(options.calibration_file or files.calibration)
    return arguments


def _xml_bool(value: bool) -> str:
    return "true" if value else "false"
