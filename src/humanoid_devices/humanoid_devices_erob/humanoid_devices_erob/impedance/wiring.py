"""Parameters of the impedance manager, derived from the robot description."""

from collections.abc import Mapping
from typing import Any, Final
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from humanoid_control_common.configuration.config import Document, validate
from humanoid_control_common.errors import ConfigError
from humanoid_controller_manager.hardware.mode_gains import DAMPING, STIFFNESS
from humanoid_controller_manager.hardware.urdf import parse_robot_description
from humanoid_devices_erob.impedance.drives import Drives, ImpedanceParameters, mode_table
from humanoid_devices_erob.settings import drive_facts

PLUGIN: Final = "ethercat_driver/EthercatDriver"


def manager_parameters(urdf: str, update_rate: int, chosen: Document) -> dict[str, Any]:
    """Return the node's parameters about the drives.

    The description, expanded from the hardware file, is the one that the hardware component gets.

    Args:
        urdf: with the <ros2_control> block of the ring.
        update_rate: [Hz] of the control loop.
        chosen: the node's other parameters, checked here before any program is started.

    Raises ConfigError for invalid parameters.
    """
    return _checked(urdf, update_rate, chosen)[0]


def mode_gains(urdf: str, update_rate: int, chosen: Document) -> dict[str, Any]:
    """Return the gains of every mode, by mode number: configured, and realized by each drive.

    Arguments and errors are those of `manager_parameters`.
    """
    _, parameters = _checked(urdf, update_rate, chosen)
    drives = Drives.of(parameters)
    realized: dict[str, dict[str, list[float]]] = {
        joint: {"stiffness": [], "damping": []} for joint in drives.joint_names
    }
    for registers in mode_table(drives, parameters).values():
        rows = [(r.position_gain, r.velocity_gain, r.velocity_integral) for r in registers]
        for name, values in zip(("stiffness", "damping"), drives.realized(rows), strict=True):
            for joint, value in zip(drives.joint_names, values.tolist(), strict=True):
                realized[joint][name].append(value)
    configured = {"stiffness": list(parameters.mode_kp), "damping": list(parameters.mode_kd)}
    return {"configured": configured, "realized": realized}


def with_mode_gains(urdf: str, gains: Mapping[str, Any]) -> str:
    """Return `urdf` with `gains`, as `mode_gains` returns them, in its <ros2_control> blocks.

    Each block with such joints gets the configured gains. Its joints get those that their drives
    realize if it mocks or simulates them.
    """
    robot = ElementTree.fromstring(urdf)
    realized = gains["realized"]
    for block in robot.findall("ros2_control"):
        joints = [it for it in block.findall("joint") if it.get("name") in realized]
        hardware = block.find("hardware")
        if not joints or hardware is None:
            continue
        _add_gains(hardware, gains["configured"])
        if hardware.findtext("plugin", "").strip() != PLUGIN:
            for joint in joints:
                _add_gains(joint, realized[joint.get("name")])
    ElementTree.indent(robot)
    return f'<?xml version="1.0"?>\n{ElementTree.tostring(robot, encoding="unicode")}\n'


def _add_gains(element: Element, row: Mapping[str, list[float]]) -> None:
    for name, values in ((STIFFNESS, row["stiffness"]), (DAMPING, row["damping"])):
        ElementTree.SubElement(element, "param", name=name).text = " ".join(map(str, values))


def _checked(
    urdf: str, update_rate: int, chosen: Document
) -> tuple[dict[str, Any], ImpedanceParameters]:
    """Return the parameters about the drives, and all parameters. Raises ConfigError."""
    blocks = parse_robot_description(urdf, float(update_rate)).blocks
    ring = next((block for block in blocks if block.plugin == PLUGIN), None)
    if ring is None:
        raise ConfigError(f"robot description: no <ros2_control> block of {PLUGIN}")
    facts = drive_facts(ring)
    own: dict[str, Any] = {
        "joint_names": [joint.name for joint in ring.joints],
        "ring_positions": facts.ring_position.tolist(),
        "kt": facts.torque_constant.tolist(),
        "gear": facts.gear.tolist(),
        "update_rate": update_rate,
    }
    content = {**chosen.content, **own}
    parameters = validate(ImpedanceParameters, Document(chosen.name, content, chosen.places))
    try:
        mode_table(Drives.of(parameters), parameters)
    except ConfigError as error:
        raise ConfigError(f"{chosen.where(('mode_kd',))}: {error}") from error
    return own, parameters
