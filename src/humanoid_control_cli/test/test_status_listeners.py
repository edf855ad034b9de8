"""`hc status` handles messages of other programs."""

from __future__ import annotations

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from humanoid_control_msgs.msg import SafetyStatus
from sensor_msgs.msg import JointState

from humanoid_control_cli.robot import status
from humanoid_control_common.rules.diagnosis import DiagnosisLevel
from humanoid_control_common.rules.safety import SafetyLevel


def test_undefined_levels_count_as_the_worst() -> None:
    found = status.Status()
    status._note_safety(found, SafetyStatus(source="bus", level=9, flags=1 << 30))
    item = DiagnosticStatus(name="pump", level=b"\x09")
    status._note_diagnoses(found, "", DiagnosticArray(status=[item]))
    assert found.safety["bus"].level is SafetyLevel.CRITICAL
    assert found.diagnoses["pump"].level is DiagnosisLevel.STALE


def test_every_joint_has_its_own_numbers_in_the_order_of_the_robot() -> None:
    found = status.Status()
    message = JointState(
        name=["shoulder", "elbow"], position=[0.1, 0.2], velocity=[1.0, 2.0], effort=[-3.0, -4.0]
    )
    status._note_joint_states(found, message)
    assert found.joints == [
        status.JointRow("shoulder", position=0.1, velocity=1.0, effort=-3.0),
        status.JointRow("elbow", position=0.2, velocity=2.0, effort=-4.0),
    ]
