"""Messages of `hc` without a robot."""

import os
import re
import sys

import pytest
import rclpy
from humanoid_control_msgs.srv import UnloadController
from rclpy.node import Node
from test_support.ros.ros_domains import on_reserved_domain
from typer.testing import CliRunner

from humanoid_control_cli.app import app
from humanoid_control_cli.errors import NoAnswerError
from humanoid_control_common.errors import ConfigError


def test_help_names_every_command() -> None:
    result = CliRunner().invoke(app, ["--help"])
    assert result.exit_code == 0
    for command in (
        "up",
        "mode",
        "status",
        "view",
        "record",
        "replay",
        "sdo",
        "twin",
        "decode",
        "doctor",
        "version",
    ):
        assert re.search(rf"^  {command} ", result.output, re.MULTILINE)


def test_help_loads_neither_ros_nor_the_robot(start) -> None:
    code = """
import sys
from humanoid_control_cli.app import app
try:
    app(["--help"], prog_name="hc")
except SystemExit:
    slow = {"rclpy", "yaml", "pydantic", "xacro", "numpy", "humanoid_bringup_prime"}
    slow |= {"humanoid_control_cli.reason_codes"}  # the tables of all packages
    print("loaded:", sorted(slow & set(sys.modules)))
"""
    run = start(sys.executable, "-c", code)
    assert run.finish() == 0
    assert run.lines[-1] == "loaded: []"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("hc mode st", ["standby", "start_remote", "start_locomotion"]),
        ("hc up ", ["mujoco", "mock", "twin", "real"]),
    ],
)
def test_arguments_are_completed(hc_anew, words: str, expected: list[str]) -> None:
    run = hc_anew(COMP_WORDS=words, COMP_CWORD="2", _HC_COMPLETE="complete_bash")
    assert run.finish() == 0
    assert run.lines == expected


def test_hc_version_prints_the_versions_for_a_bug_report(hc_anew) -> None:
    run = hc_anew("version")
    assert run.finish() == 0
    found = dict(re.split(r"\s{2,}", line) for line in run.lines)
    assert found["humanoid_control"] == "0.1.0"
    assert found["ROS 2"] == os.environ["ROS_DISTRO"]
    assert found["rmw"].startswith("rmw_")
    assert found["Python"] == ".".join(map(str, sys.version_info[:3]))
    assert re.fullmatch(r"[\d.]+", found["mujoco"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("up fake", "'fake' is not one of 'mujoco', 'mock', 'twin', 'real'"),
        ("up real --rtf 1", "is for `hc up mujoco`, not real"),
        ("up mujoco --interface ecm0", "is for `hc up real`, not mujoco"),
        ("up mock --backends ec", "is for `hc up real` and `hc up twin`, not mock"),
        ("up mock --calibration /etc/hosts", "is for `hc up real` and `hc up twin`, not mock"),
        ("up mujoco --rtf -1", "--rtf"),
        ("up mock --rtf 2", "is for `hc up mujoco`, not mock"),
        ("up mock --initial-mode standby", "'standby' is not one of"),
        ("up mock --controllers /nowhere.yaml", "'/nowhere.yaml' does not exist"),
        ("up mock --port 70000", "--port"),
        ("mode fly", "'fly' is not one of 'damp', 'load'"),
        ("mode damp --timeout 0", "--timeout"),
        ("sdo read 0", "INDEX[:SUB]"),
        ("sdo write 0 0x2381:1 5 --type i31", "'i31' is not one of 'u8', 'i8'"),
        ("sdo write 0 0x2381:1 5 --tpye i32", "--tpye"),
        ("twin ring", "IFNAME"),
        ("twin ring ecs0 --slaves 0", "--slaves"),
        ("twin ring ecs0 --mailbox-delay-ms -1", "--mailbox-delay-ms"),
        ("twin veth a", "B"),
        ("twin trial 7", "--kind"),
        ("twin trial 7 --kind can --stop-at end", "'end' is not one of 'fault', 'fall'"),
        ("twin trial 7 --kind can --speed 0", "--speed"),
        ("replay /nowhere", "'/nowhere' does not exist"),
        ("replay . --rate 0", "--rate"),
        ("replay . --until -1", "--until"),
        ("record walk --seconds 0", "--seconds"),
        ("view --port 70000", "--port"),
        ("decode 4616 --as word", "'word' is not one of"),
    ],
)
def test_a_bad_argument_is_a_usage_error(arguments: str, message: str) -> None:
    result = CliRunner().invoke(app, arguments.split())
    assert result.exit_code == 2
    assert message in result.output


@pytest.mark.parametrize(
    "arguments",
    ["mode load", "mode quit", "status", "clear-fault", "sdo read 0 1000", "sdo write 0 8321:1 5"],
)
def test_without_a_control_process_the_domain_is_named(
    arguments: str,
) -> None:
    with on_reserved_domain() as domain:
        result = CliRunner().invoke(app, [*arguments.split(), "--timeout", "0.3"])
    message = f"no control process answers on ROS_DOMAIN_ID {domain} within 0.3 s"
    with pytest.raises(NoAnswerError, match=f"^{message}"):
        raise result.exception


def test_a_control_process_without_a_mode_manager_is_not_reported_as_absent() -> None:
    with on_reserved_domain() as domain:
        context = rclpy.Context()
        rclpy.init(context=context, domain_id=domain)
        node = Node("controller_manager", context=context)
        try:
            result = CliRunner().invoke(app, ["mode", "--timeout", "2"])
        finally:
            node.destroy_node()
            context.shutdown()
    with pytest.raises(NoAnswerError, match=f"on ROS_DOMAIN_ID {domain} has no mode manager"):
        raise result.exception


def test_a_control_process_that_is_busy_is_not_reported_as_absent() -> None:
    with on_reserved_domain() as domain:
        context = rclpy.Context()
        rclpy.init(context=context, domain_id=domain)
        node = Node("controller_manager", context=context)
        node.create_service(UnloadController, "controller_manager/unload", lambda _, answer: answer)
        try:
            result = CliRunner().invoke(app, ["unload", "hold", "--timeout", "2"])
        finally:
            node.destroy_node()
            context.shutdown()
    with pytest.raises(NoAnswerError, match=f"on ROS_DOMAIN_ID {domain} has not answered for 2 s"):
        raise result.exception


def test_a_control_process_that_a_callback_holds_up_is_not_reported_as_absent() -> None:
    with on_reserved_domain() as domain:
        context = rclpy.Context()
        rclpy.init(context=context, domain_id=domain)
        nodes = [Node(name, context=context) for name in ("controller_manager", "mode_manager")]
        try:
            result = CliRunner().invoke(app, ["mode", "--timeout", "2"])
        finally:
            for node in nodes:
                node.destroy_node()
            context.shutdown()
    with pytest.raises(NoAnswerError, match=f"on ROS_DOMAIN_ID {domain} has published nothing"):
        raise result.exception


@pytest.mark.parametrize("arguments", ["mode", "up mock"])
@pytest.mark.parametrize("domain", ["seven", "-1", "233"])
def test_a_domain_that_does_not_exist_is_one_sentence(
    arguments: str, domain: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROS_DOMAIN_ID", domain)
    result = CliRunner().invoke(app, arguments.split())
    with pytest.raises(ConfigError, match=f"ROS_DOMAIN_ID is '{domain}', expected a number"):
        raise result.exception


@pytest.mark.parametrize("arguments", ["mode", "up mock"])
def test_peers_that_would_not_be_reached_are_one_sentence(
    arguments: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    monkeypatch.setenv("ROS_STATIC_PEERS", "10.77.0.2")
    result = CliRunner().invoke(app, arguments.split())
    with pytest.raises(ConfigError, match="set it to SUBNET"):
        raise result.exception


def test_an_error_is_one_sentence_and_exit_code_1(hc_anew) -> None:
    run = hc_anew("mode", ROS_DOMAIN_ID="seven")
    assert run.finish() == 1
    assert run.lines == ["hc: ROS_DOMAIN_ID is 'seven', expected a number from 0 to 232"]
