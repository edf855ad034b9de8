"""Remedies for symptoms of the black box."""

from typing import Final

from humanoid_control_common.remedies import Remedy

REMEDIES: Final = (
    Remedy(
        "no file (black box)",
        "What led to the fault could not be written; it is kept in memory for a minute.",
        "Make room on the disk or mend the folder's permissions, then `hc blackbox save` at once.",
        r"no file: |left on the disk|no space left",
    ),
)
