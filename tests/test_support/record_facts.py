"""Facts of tick records for tests."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from humanoid_control_common.memory_file import boot_id, process_start
from humanoid_control_common.tick_records.record_layout import RecordFacts


def record_facts(update_rate: float = 50.0, **changes: Any) -> RecordFacts:
    """Return the facts of a control process with two joints, which is this process."""
    facts = RecordFacts(
        pid=os.getpid(),
        process_start=process_start(os.getpid()),
        boot_id=boot_id(),
        domain=7,
        backend="twin",
        update_rate=update_rate,
        wall_period=1.0 / update_rate,
        seconds=4.0,
        joints=("shoulder", "elbow"),
        sources=("arm",),
        counters=("arm: lost",),
        limited=("position",),
        robot_description="<robot/>",
        state_topic="/prime/joint_states",
        command_topic="/prime/joint_commands",
    )
    return replace(facts, **changes)
