"""The address of the robot on this machine."""

from __future__ import annotations

import pytest

from humanoid_joint_client import JointClient, NoAnswerError


@pytest.mark.parametrize("domain", ["robot", "-1", "1.5"])
def test_a_domain_that_is_no_number_is_an_error_of_the_client(
    monkeypatch: pytest.MonkeyPatch, domain: str
) -> None:
    monkeypatch.setenv("ROS_DOMAIN_ID", domain)
    with pytest.raises(NoAnswerError, match=f"ROS_DOMAIN_ID is '{domain}', expected a number"):
        JointClient()
