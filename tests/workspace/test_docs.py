"""The examples of the documentation work, and its links lead to existing files and headings."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import typer
import yaml

from humanoid_bringup.options import Backend, Options
from humanoid_bringup.plan import description
from humanoid_control_cli.app import app
from humanoid_control_cli.reason_codes_page import with_tables
from humanoid_control_common import ending_times
from humanoid_control_common.robot.joints import JointLimits, JointSet
from humanoid_control_common.robot.mit_interface import JointCommand, JointState
from humanoid_controller_manager.controller import CONTROLLER_CONTRACT, RobotFacts
from humanoid_controller_manager.hardware_component import HARDWARE_CONTRACT
from humanoid_controller_manager.safety import loop_diagnoses
from humanoid_controllers import remote_report
from humanoid_devices_erob.drive.error_codes import ERROR_CODES
from humanoid_policy.metadata import ActionKind, PolicyMetadata
from humanoid_policy.observation.terms import TERMS
from humanoid_recording.topics import OBSERVATIONS
from humanoid_twin.control.client import ControlClient
from humanoid_twin.robot.control import RobotControl
from humanoid_twin.robot.main import parser
from prime_description import expand

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
OURS = [path for path in sorted(ROOT.glob("src/**/README.md")) if "external" not in path.parts]
NAMING = [*PAGES, *OURS]
PYTHON = [
    file
    for folder in ("src", "tests", "benchmarks", "scripts", "docs")
    for file in (ROOT / folder).rglob("*.py")
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_of_the_documentation_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text())
    local = [target for target in targets if "://" not in target]
    missing = [target for target in local if not (page.parent / target).exists()]
    assert missing == []


@pytest.mark.parametrize("page", NAMING, ids=lambda page: str(page.relative_to(ROOT)))
def test_python_files_that_the_documentation_names_exist(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    named = re.findall(r"`([\w./*-]+\.py)`", text)
    files = [f"/{file.relative_to(ROOT)}" for file in PYTHON]
    assert [name for name in named if not fnmatch.filter(files, f"*/{name}")] == []


def test_pages_that_the_programs_name_exist() -> None:
    others = [it for end in ("yaml", "xacro", "xml", "msg") for it in ROOT.glob(f"src/**/*.{end}")]
    files = [*PYTHON, *(it for it in others if "external" not in it.parts)]
    named = {page for file in files for page in re.findall(r"\bdocs/\w+\.md", file.read_text())}
    assert "docs/connect_can.md" in named
    assert [page for page in named if not (ROOT / page).exists()] == []


def test_the_index_lists_every_page() -> None:
    index = ROOT / "docs" / "README.md"
    listed = set(re.findall(r"\]\(([^)#]+)\)", index.read_text()))
    pages = {page.name for page in (ROOT / "docs").glob("*.md")} - {index.name}
    assert pages - listed == set()


def heading_anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub makes for the headings of a page."""
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    plain = [re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower() for heading in headings]
    return {re.sub(r"[^\w\- ]", "", heading).strip().replace(" ", "-") for heading in plain}


@pytest.mark.parametrize("page", NAMING, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_to_a_section_lead_to_a_heading(page: Path) -> None:
    missing = []
    for target, anchor in re.findall(r"\]\(([^)#\s]*)#([^)\s]+)\)", page.read_text()):
        other = page.parent / target if target else page
        if "://" not in target and anchor not in heading_anchors(other):
            missing.append(f"{target}#{anchor}")
    assert missing == []


def test_the_controller_in_the_guide_holds_the_pose_it_found() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", _guide("add_a_controller.md"), re.DOTALL)[:1]
    names: dict[str, Any] = {"__name__": "guide"}
    exec(compile(code, "add_a_controller.md", "exec"), names)  # the guide is ours
    ones = np.ones(2)
    robot = RobotFacts(JointSet(("a", "b")), JointLimits(-ones, ones, ones, ones), 50.0)
    controller = names["HoldController"]()
    controller.on_configure(names["HoldParameters"](stiffness=5.0, damping=1.0), robot)
    state, command = JointState(2, np.full((3, 2), 0.25)), JointCommand(2)
    controller.on_activate(state, command, 0.0)
    controller.update(state, command, 0.02, 0.02)
    assert command.array.tolist() == [[0.25] * 2, [0.0] * 2, [0.0] * 2, [5.0] * 2, [1.0] * 2]


@pytest.mark.parametrize("group", ["humanoid_control.hardware", "humanoid_control.controllers"])
def test_every_plugin_is_documented(group: str) -> None:
    text = _guide("architecture.md") + _guide("modes.md")
    text = re.sub(
        r"humanoid_control/\{(.*?)\}Controller",
        lambda m: " ".join(f"humanoid_control/{name}Controller" for name in m[1].split(",")),
        text,
    )
    names = {point.name for point in entry_points(group=group)}
    assert names
    assert {name for name in names if name not in text} == set()


def test_every_error_of_the_drives_is_documented() -> None:
    text = _guide("ethercat_reference.md")
    assert [code for code in ERROR_CODES if f"0x{code:04X}" not in text] == []


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("add_a_controller.md", CONTROLLER_CONTRACT.duties),
        ("add_a_hardware_component.md", HARDWARE_CONTRACT.duties),
        ("policies.md", [*PolicyMetadata.model_fields, *ActionKind, *TERMS]),
        ("recording.md", [f"/{topic}" for topic in OBSERVATIONS]),
        ("virtual_robot_reference.md", {it.option_strings[-1] for it in parser()._actions}),
    ],
)
def test_what_a_page_lists_is_complete(page: str, words: Iterable[str]) -> None:
    """Names stand in backticks, which may have more than a name: an option with its value."""
    listed = " ".join(re.findall(r"`([^`\n]+)`", _guide(page))) + " --help "
    assert [it for it in words if not re.search(rf"(?<![\w-]){it}(?![\w-])", listed)] == []


def test_every_status_of_the_control_loop_is_documented() -> None:
    values = [it for it in vars(loop_diagnoses).values() if isinstance(it, str)]
    names = {it for it in values if re.match("(control loop|joints): ", it)}
    assert loop_diagnoses.LIMITS in names
    page = _guide("diagnostics.md")
    assert {it for it in names | {remote_report.NAME} if f"| `{it}` |" not in page} == set()


@pytest.mark.parametrize("robot", ["prime", "lite", "hand"])
def test_every_argument_of_a_description_is_documented(robot: str) -> None:
    package = ROOT / "src" / f"{robot}_description"
    files = [it for it in package.rglob("*.urdf.xacro") if not {"test"} & set(it.parts)]
    names = {name for it in files for name in re.findall(r'xacro:arg name="(\w+)"', it.read_text())}
    assert "use_sim" in names
    page = (package / "README.md").read_text()
    assert {name for name in names if f"`{name}`" not in page} == set()


def test_every_parameter_in_the_blocks_of_prime_is_documented() -> None:
    names = {
        parameter.get("name")
        for options in (Options(backend=Backend.REAL), Options(backend=Backend.MUJOCO))
        for block in ElementTree.fromstring(description(options)).iter("ros2_control")
        for part in (*block.findall("hardware"), *block.findall("joint"))
        for parameter in part.findall("param")
    }
    assert {"activation_timeout", "mode_stiffness"} <= names
    page = (ROOT / "src/prime_description/README.md").read_text()
    section = page.partition("## Parameters in the blocks")[2].partition("\n## ")[0]
    assert {name for name in names if f"`{name}`" not in section} == set()


def test_every_command_of_hc_is_documented() -> None:
    rows = [line for line in _guide("commands.md").splitlines() if line.startswith("| `hc ")]
    missing = []
    for name, command in _hc().commands.items():
        own = "\n".join(row for row in rows if re.search(rf"`hc {name}[` ]", row))
        parts = getattr(command, "commands", {})  # of a group such as `hc sdo`
        missing += [name] if not own else []
        missing += [part for part in parts if not re.search(rf"`(hc {name} )?{part}`", own)]
    assert missing == []


@pytest.mark.parametrize("page", NAMING, ids=lambda page: str(page.relative_to(ROOT)))
def test_options_of_hc_on_the_pages_exist(page: Path) -> None:
    text = page.read_text()
    lines = re.findall(r"^ {4,}(.*)$", text, re.MULTILINE) + re.findall(r"`(hc [^`]*)`", text)
    parts = [part for line in lines for part in re.split(r"&&|;|  #", line)]
    called = [part.strip()[len("hc ") :] for part in parts if part.strip().startswith("hc ")]
    assert [wrong for words in called for wrong in _unknown_options(words.split())] == []


@cache
def _hc() -> Any:
    return typer.main.get_command(app)


def _unknown_options(words: list[str]) -> list[str]:
    """Return the options in the words of a command line that none of its commands has."""
    commands = [_hc()]
    unknown = []
    for word in (word.strip(".,:()[]") for word in words):
        if word in getattr(commands[-1], "commands", {}):
            commands.append(commands[-1].commands[word])
        options = {it for one in commands for p in one.params for it in p.opts + p.secondary_opts}
        if word.startswith("--") and word.partition("=")[0] not in options | {"--help"}:
            unknown.append(f"hc {' '.join(words)}: {word}")
    return unknown


def test_motion_on_the_page_of_the_policies_begins_where_prime_stands_in_standby() -> None:
    (text,) = re.findall(r"```yaml\n(.*?)```", _guide("policies.md"), re.DOTALL)[:1]
    motion = yaml.safe_load(text)["rl_policy_controller"]["ros__parameters"]["motion"]
    config = ROOT / "src" / "humanoid_bringup_prime" / "config"
    names = yaml.safe_load((config / "prime_hardware.yaml").read_text())["joints"]["all_joints"]
    controllers = yaml.safe_load((config / "prime_controllers.yaml").read_text())
    ready = controllers["standby_controller"]["ros__parameters"]["poses"]["ready"]["positions"]
    assert motion["times"][0] == 0.0
    first = motion["positions"][: len(motion["joints"])]
    assert first == [ready[names.index(joint)] for joint in motion["joints"]]


def test_every_method_of_the_control_channel_is_documented() -> None:
    section = _guide("virtual_robot_reference.md").partition("## Methods of the control")[2]
    named = set(re.findall(r"`(\w+)(?:\(\w*\))?`", section.partition("\n## ")[0]))
    methods = {name for name in dir(RobotControl) if not name.startswith("_")}
    assert methods - set(dir(ControlClient)) - named == set()


def test_every_reason_code_is_documented_as_the_robot_gives_it() -> None:
    page = _guide("reason_codes.md")
    assert with_tables(page) == page, (
        "run: python -m humanoid_control_cli.reason_codes_page docs/reason_codes.md"
    )


def _guide(name: str) -> str:
    return (ROOT / "docs" / name).read_text()


def test_the_page_of_the_joints_contains_what_is_configured() -> None:
    config = ROOT / "src" / "humanoid_bringup_prime" / "config"
    hardware = yaml.safe_load((config / "prime_hardware.yaml").read_text())["joints"]
    controllers = yaml.safe_load((config / "prime_controllers.yaml").read_text())
    poses = controllers["standby_controller"]["ros__parameters"]["poses"]
    limits = {
        joint.get("name"): limit.attrib
        for joint in ElementTree.fromstring(expand({})).iter("joint")
        if (limit := joint.find("limit")) is not None
    }
    expected = []
    for number, name in enumerate(hardware["all_joints"]):
        if name in hardware["mit_joints"]:
            device = hardware["mit_joints"][name]["id"]
            drive = f"CAN {device} (0x{device:02X})"
        else:
            drive = f"slave {hardware['erob_slaves'][name]['position']}"
        lower, upper, velocity, effort = (
            float(limits[name][key]) for key in ("lower", "upper", "velocity", "effort")
        )
        ready = poses["ready"]["positions"][number]
        limited = [f"{lower:+.2f} … {upper:+.2f}", f"{velocity:.1f}", f"{effort:.0f}"]
        expected.append([str(number), f"`{name}`", drive, *limited, f"{ready:+.2f}"])
    rows = [line.strip("| ").split(" | ") for line in _guide("joints.md").splitlines()]
    assert [row[:7] for row in rows if row[0].isdecimal()] == expected


def test_the_pages_have_the_ending_times_of_the_supervisors() -> None:
    sigterm, sigkill = ending_times.SIGINT_TO_SIGTERM, ending_times.SIGTERM_TO_SIGKILL
    safety = _guide("safety.md")
    assert f"send it {sigterm:g} s after the first signal" in safety
    assert f"kill the process {sigkill:g} s later" in safety
    assert f"ends them only {sigterm:g} s later" in _guide("launch.md")
