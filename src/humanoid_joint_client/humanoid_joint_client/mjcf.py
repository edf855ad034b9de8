"""The robot as a model of MuJoCo."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Mjcf:
    """A model with a motor for each joint, whose control is its torque [Nm].

    `mujoco.MjModel.from_xml_string(it.xml, it.meshes)` makes it; `save` writes its files.
    """

    xml: str
    meshes: dict[str, bytes]  # the files that `xml` names

    def save(self, folder: Path | str) -> Path:
        """Write the model and its meshes into `folder`; return the model's file."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in self.meshes.items():
            (folder / Path(name).name).write_bytes(content)
        path = folder / "robot.xml"
        path.write_text(self.xml, encoding="utf-8")
        return path
