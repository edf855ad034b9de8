"""The largest gains of each joint, from the <param name="max"> of its command interfaces."""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree import ElementTree

import numpy as np

from humanoid_control_common.joints import FloatArray, JointSet
from humanoid_controller_manager.block_parameters import number

GAINS = ("stiffness", "damping")


def largest_gains(blocks: Iterable[ElementTree.Element], joints: JointSet) -> FloatArray:
    """Largest stiffness [Nm/rad] and damping [Nm*s/rad], (2, n_joints), as <ros2_control> says.

    inf where nothing is said. Raises ConfigError for what is no positive number.
    """
    gains = np.full((len(GAINS), len(joints)), np.inf)
    for block in blocks:
        for joint in block.findall("joint"):
            name = joint.get("name", "")
            column = joints.indices([name])[0]
            for row, gain in enumerate(GAINS):
                text = joint.findtext(f"command_interface[@name='{gain}']/param[@name='max']")
                if text is not None:
                    where = f"joint '{name}': max of {gain}"
                    gains[row, column] = number(text, where, above=0.0)
    return gains
