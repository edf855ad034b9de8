"""Every package declares its imports and started programs, and no others, by names of rosdep."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).resolve().parents[2]
DISTRIBUTIONS = {"jazzy", "kilted", "lyrical"}
MANIFESTS = {
    file.parent.name: file
    for file in sorted(ROOT.glob("src/**/package.xml"))
    if "external" not in file.relative_to(ROOT).parts
}
KEYS = {  # rosdep keys of modules with another name
    "PIL": "python3-pil",
    "can": "python3-can",
    "collada": "python3-collada",
    "google": "python3-protobuf",
    "grpc": "python3-grpcio",
    "hypothesis": "python3-hypothesis",
    "matplotlib": "python3-matplotlib",
    "mcap_ros2": "mcap-ros2-support",
    "mujoco": "python3-mujoco-pip",
    "numpy": "python3-numpy",
    "psutil": "python3-psutil",
    "pydantic": "python3-pydantic",
    "pytest": "python3-pytest",
    "rich": "python3-rich",
    "rosbags": "python3-rosbags-pip",
    "serial": "python3-serial",
    "trimesh": "python3-trimesh-pip",
    "typer": "python3-typer",
    "websockets": "python3-websockets",
    "yaml": "python3-yaml",
}
# Names on PyPI of keys with another name there, with the oldest version that works.
ON_PYPI = {
    "python3-can": "python-can",
    "python3-collada": "pycollada",
    "python3-mujoco-pip": "mujoco",
    "python3-pydantic": "pydantic>=2",
    "python3-serial": "pyserial",
    "python3-trimesh-pip": "trimesh",
    "python3-yaml": "PyYAML",
}
# Keys that rosdep installs by pip, into the system: Debian and Ubuntu refuse that (PEP 668).
BY_PIP = {
    "mcap-ros2-support",
    "python3-mujoco-pip",
    "python3-rosbags-pip",
    "python3-trimesh-pip",
}
# Modules without a key of rosdep, by their requirement.
WITHOUT_KEY = {
    "greenlet": "runtime",
    "lz4": "runtime",
    "mcap": "runtime",
    "onnx": "dev",
    "onnxruntime": "runtime",
    "playwright": "dev",
    "pysoem": "runtime",
    "ruckig": "runtime",
    "viser": "runtime",
    "zstandard": "runtime",
}
SUPPORT = ROOT / "tests/test_support"  # a test declares its own imports of it
NOT_IMPORTED = {  # declared without an `import`
    "ament_cmake_pytest": "CMake runs the tests of the interfaces by it",
    "humanoid_description": "macros that a robot's description includes",
    "humanoid_devices_mujoco": "a plug-in that the robot's description names",
    "humanoid_devices_robstride": "a plug-in that the robot's description names",
    "humanoid_devices_sito": "a plug-in that the robot's description names",
    "joy": "bringup starts its node",
    "liburdfdom-tools": "check_urdf, run by tests",
    "moveit_kinematics": "a plug-in that kinematics.yaml names",
    "moveit_planners": "the planners that MoveIt's builder configures",
    "moveit_ros_move_group": "MoveIt's own launch function starts its node",
    "moveit_ros_visualization": "a panel that moveit.rviz names",
    "python3-msgpack": "python-can needs it for its virtual bus between processes",
    "python3-serial": "python-can needs it for slcan",
    "rosidl_default_runtime": "the generated interfaces",
    "rviz2": "MoveIt's own launch function starts it",
    "xacro": "run as a program by the tests",
}
# Tests run in the workspace: its modules at the root are no packages.
HELPERS = {"benchmarks", "fault_campaign", "src", SUPPORT.name}
# With these declarations packages would depend on each other in a circle, which colcon cannot
# order.
CIRCULAR = {
    ("humanoid_devices_erob", "humanoid_twin"),  # tests against the virtual ring
    ("humanoid_devices_erob", "humanoid_stepped"),  # its master in memory
    ("humanoid_bringup_prime", "humanoid_stepped"),  # the same
    ("humanoid_devices_sito", "humanoid_stepped"),  # its guard in memory
    ("humanoid_twin", "humanoid_bringup_prime"),  # Prime's actuators, for tests and benchmarks
    ("hand_description", "humanoid_bringup_hand"),  # the same as of prime_description
    ("lite_description", "humanoid_bringup_lite"),  # the same as of prime_description
    ("prime_description", "humanoid_bringup_prime"),  # the file of joints and drives, by default
}

every_package = pytest.mark.parametrize("package", MANIFESTS)


def manifest(package: str) -> ElementTree.Element:
    return ElementTree.parse(MANIFESTS[package]).getroot()


def declared(package: str, *tags: str) -> set[str]:
    return {str(element.text) for element in manifest(package) if element.tag in tags}


def sources(package: str, *, test: bool) -> Iterator[Path]:
    """Return the Python files that are installed and launched, or those of the tests."""
    folder = MANIFESTS[package].parent
    for file in sorted(folder.rglob("*.py")):
        parts = file.relative_to(folder).parts
        if parts != ("setup.py",) and (parts[0] == "test") == test:
            yield file


@cache
def names_in(file: Path) -> tuple[frozenset[str], frozenset[str]]:
    """Return the top-level modules that `file` imports, and the first words of its strings."""
    modules: set[str] = set()
    words: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            modules |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            modules.add(str(node.module).partition(".")[0])
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            words.add(re.split(r"[/.]", node.value)[0])
    return frozenset(modules), frozenset(words)


def imported(package: str, *, test: bool) -> set[str]:
    """Return the imported top-level modules outside of the package and of Python."""
    files = list(sources(package, test=test))
    beside = HELPERS | {file.stem for file in files} if test else set()
    if test:
        files += [it for it in SUPPORT.rglob("*.py") if any(_imports(file, it) for file in files)]
    modules = set().union(*(names_in(file)[0] for file in files))
    return modules - set(sys.stdlib_module_names) - beside - {package}


def _imports(file: Path, support: Path) -> bool:
    folder = ".".join(support.parent.relative_to(SUPPORT.parent).parts)
    line = rf"^from {folder}(\.{support.stem} import | import {support.stem}\b)"
    return re.search(line, file.read_text(), flags=re.MULTILINE) is not None


# Topics and folders with the name of a package.
TOPICS = {"humanoid_controllers": {"joy"}, "humanoid_control_cli": {"launch"}}


def started(package: str) -> set[str]:
    """Return the packages that strings name: of nodes, plug-ins and folders."""
    words = set().union(*(names_in(file)[1] for file in sources(package, test=False)))
    folder = MANIFESTS[package].parent
    for file in (*folder.glob("config/*.yaml"), *folder.glob(".setup_assistant")):
        words |= set(re.findall(r"\w+(?=/\w)|(?<=package: )\w+", file.read_text()))
    return words - {package} - TOPICS.get(package, set())


def released() -> set[str]:
    """Return the names in every supported distribution of ROS 2 or in rosdep."""
    lines = (ROOT / "tests/data/released_names.txt").read_text().splitlines()
    places = {words[0]: set(words[1:]) for line in lines if (words := line.split())[0] != "#"}
    return {name for name, where in places.items() if where >= DISTRIBUTIONS or "rosdep" in where}


def keys(modules: set[str]) -> set[str]:
    return {KEYS.get(name, name) for name in modules - WITHOUT_KEY.keys()}


@every_package
def test_dependencies_are_packages_of_the_workspace_or_known_to_rosdep(package: str) -> None:
    wanted = {str(e.text) for e in manifest(package) if e.tag.endswith("depend")}
    assert wanted, "a package that depends on nothing is not one of this workspace"
    assert wanted - MANIFESTS.keys() - released() == set()


@every_package
def test_imports_of_a_package_are_declared(package: str) -> None:
    found = declared(package, "depend", "exec_depend")
    assert keys(imported(package, test=False)) - found == set()


@every_package
def test_packages_that_a_package_starts_or_looks_up_are_declared(package: str) -> None:
    known = MANIFESTS.keys() | released()
    found = {name for name in started(package) & known if (package, name) not in CIRCULAR}
    assert found - declared(package, "depend", "exec_depend") == set()


@every_package
def test_imports_of_the_tests_of_a_package_are_declared(package: str) -> None:
    found = declared(package, "depend", "exec_depend", "test_depend")
    circular = {other for this, other in CIRCULAR if this == package}
    assert keys(imported(package, test=True)) - found == circular & MANIFESTS.keys() & keys(
        imported(package, test=True)
    )


@every_package
def test_declared_dependencies_are_used(package: str) -> None:
    used = keys(imported(package, test=False)) | started(package) | NOT_IMPORTED.keys()
    if package != "humanoid_control_msgs":  # CMake uses the declared dependencies, or fails
        assert declared(package, "depend", "exec_depend") - used == set()
    for_tests = keys(imported(package, test=True)) | NOT_IMPORTED.keys()
    assert declared(package, "test_depend") - for_tests == set()


def required(package: str) -> set[str]:
    """Return what pip must install for a package, beside ROS: packages in Python, and modules."""
    declared_keys = declared(package, "depend", "exec_depend")
    in_python = {key for key in declared_keys & MANIFESTS.keys() if _setup(key).exists()}
    from_pypi = {key for key in declared_keys if key == "xacro" or key.startswith("python3-")}
    without_key = imported(package, test=False) & WITHOUT_KEY.keys()
    return in_python | without_key | {ON_PYPI.get(k, k.removeprefix("python3-")) for k in from_pypi}


def _setup(package: str) -> Path:
    return MANIFESTS[package].with_name("setup.py")


@pytest.mark.parametrize("package", [name for name in MANIFESTS if _setup(name).exists()])
def test_pip_installs_what_the_manifest_declares(package: str) -> None:
    (found,) = (
        ast.literal_eval(node.value)
        for node in ast.walk(ast.parse(_setup(package).read_text()))
        if isinstance(node, ast.keyword) and node.arg == "install_requires"
    )
    assert {_name(it) for it in found} == {_name(it) for it in required(package)}


def _name(requirement: str) -> str:
    return re.split("[<>=]", requirement)[0]


@every_package
def test_no_dependency_is_declared_twice(package: str) -> None:
    for_running = declared(package, "depend", "exec_depend")
    assert for_running & declared(package, "test_depend") == set()
    tags = [(e.tag, e.text) for e in manifest(package) if e.tag.endswith("depend")]
    assert len(tags) == len(set(tags))


@pytest.mark.parametrize("module", WITHOUT_KEY)
def test_modules_without_a_rosdep_key_are_pinned_and_named_by_their_users(module: str) -> None:
    requirements = (ROOT / f"requirements/{WITHOUT_KEY[module]}.txt").read_text()
    assert re.search(rf"^{module}==", requirements, flags=re.MULTILINE)
    users = [
        name
        for name in MANIFESTS
        if module in imported(name, test=False) | imported(name, test=True)
    ]
    assert users
    assert [name for name in users if module not in MANIFESTS[name].read_text()] == []


@pytest.mark.parametrize("file", ["docs/build.md", ".github/workflows/workspace.yml"])
def test_rosdep_keys_installed_by_pip_are_skipped(file: str) -> None:
    everything = {str(e.text) for name in MANIFESTS for e in manifest(name)}
    by_pip = {key for key in everything if key in BY_PIP or key.endswith("-pip")}
    assert by_pip == BY_PIP
    (skipped,) = re.findall(r'--skip-keys "([^"]*)"', (ROOT / file).read_text())
    assert by_pip <= set(skipped.split())


def test_only_declared_names_are_excused() -> None:
    everything = {str(e.text) for name in MANIFESTS for e in manifest(name)}
    assert NOT_IMPORTED.keys() - everything == set()
