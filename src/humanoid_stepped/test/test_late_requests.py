"""Requests on /control_mode that come late, as over a cable that was unplugged meanwhile."""

import pytest
from builtin_interfaces.msg import Time
from humanoid_control_msgs.msg import ControlMode
from test_support.stepped.prime import Prime

from humanoid_control_common.rules.modes import Mode


@pytest.fixture(scope="module")
def damped(tmp_path_factory: pytest.TempPathFactory) -> Prime:
    """Prime in DAMPING."""
    prime = Prime(tmp_path_factory.mktemp("damped"))
    prime.up()
    prime.client.enter(Mode.DAMPING)
    return prime


def request(prime: Prime, mode: Mode, stamp: Time, number: int = 0) -> None:
    """Publish a request with stamp and number of a statement; wait for statements after it."""
    message = ControlMode(mode=int(mode), switch_number=number)
    message.header.stamp = stamp
    publisher = prime.client.node.create_publisher(ControlMode, "control_mode", 10)
    prime.client.until(lambda: publisher.get_subscription_count() > 1, "the mode manager")
    publisher.publish(message)
    prime.client.next_statements(5)


def test_a_request_to_an_old_statement_is_refused_and_one_to_the_latest_is_not(
    damped: Prime,
) -> None:
    client = damped.client
    old = client.now.header.stamp
    client.next_statements(30)  # 0.6 s
    request(damped, Mode.STANDBY, old)
    assert client.now.mode == Mode.DAMPING
    assert list(client.now.reason_codes) == ["LOAD_REFUSED", "REQUEST_LATE"]
    request(damped, Mode.STANDBY, client.now.header.stamp)
    client.until(lambda: client.now.mode == Mode.STANDBY, "STANDBY")


def test_a_request_that_was_decided_on_another_switch_number_is_refused(damped: Prime) -> None:
    client = damped.client
    client.enter(Mode.DAMPING)
    request(damped, Mode.STANDBY, Time(), client.now.switch_number + 1)
    assert list(client.now.reason_codes) == ["LOAD_REFUSED", "REQUEST_LATE"]
    request(damped, Mode.STANDBY, Time(), client.now.switch_number)
    client.until(lambda: client.now.mode == Mode.STANDBY, "STANDBY")


@pytest.mark.parametrize("stamp", [Time(sec=-1), Time(sec=1, nanosec=4_000_000_000)])
def test_damp_counts_whatever_its_stamp_is(damped: Prime, stamp: Time) -> None:
    damped.client.enter(Mode.STANDBY)
    request(damped, Mode.DAMPING, stamp)
    damped.client.until(lambda: damped.client.now.mode == Mode.DAMPING, "DAMPING")
