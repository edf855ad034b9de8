"""Prime as a CAD program might export it: links, joints and meshes, no blocks."""

import shutil
from pathlib import Path
from xml.etree import ElementTree

from prime_description import expand

MESHES = Path(__file__).resolve().parents[2] / "docs/examples/mesh_arm/meshes"
HAND = "left_hand_link"  # the link that has meshes


class Export:
    """Prime as a CAD program might export it: a folder with meshes, and no blocks."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / "urdf/prime_cad.urdf"
        shutil.copytree(MESHES, folder / "meshes")
        self.file.parent.mkdir()
        self.robot = ElementTree.fromstring(expand({"use_fake_hardware": "true"}))
        for block in self.robot.findall("ros2_control"):
            self.robot.remove(block)
        joints = self.robot.findall("joint")
        for joint in joints:  # in another order, without soft limits
            self.robot.remove(joint)
            for safety in joint.findall("safety_controller"):
                joint.remove(safety)
        for joint in reversed(joints):
            self.robot.append(joint)
        names = ("base.stl", "upper_arm.obj", "forearm.dae")
        shapes = [
            shape
            for tag in ("visual", "collision")
            for shape in self.robot.findall(f"link[@name='{HAND}']/{tag}/geometry")
        ]
        for number, shape in enumerate(shapes):
            name = names[number % len(names)]
            scale = "0.0001 0.0001 0.0001" if name == "base.stl" else "0.1 0.1 0.1"
            shape[:] = [ElementTree.Element("mesh", filename=f"../meshes/{name}", scale=scale)]

    def joint(self, name: str) -> ElementTree.Element:
        found = self.robot.find(f"joint[@name='{name}']")
        assert found is not None
        return found

    def write(self) -> str:
        """Return its folder as the argument of the bring-up."""
        ElementTree.ElementTree(self.robot).write(self.file)
        return str(self.folder)
