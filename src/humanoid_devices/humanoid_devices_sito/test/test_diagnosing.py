"""Every fault of the virtual bus is reported with the right joint and its remedy."""

from __future__ import annotations

import pytest

from humanoid_control_common.rules.diagnosis import Diagnosis, DiagnosisLevel
from humanoid_controller_manager.hardware_component import HARDWARE_CONTRACT
from humanoid_devices_can.timing import Timing
from humanoid_devices_sito.codec import MessageType, identifier
from humanoid_devices_sito.sito_system import SitoSystem
from src.humanoid_devices.test.can_bench import CanBench, CanRig, MakeBench, MakeInfo, MakeRig

IDS = [22, 23, 38, 39]
ALL = {f"j{i}" for i in range(4)}
OK, WARN, ERROR = DiagnosisLevel.OK, DiagnosisLevel.WARN, DiagnosisLevel.ERROR
BUS = "bus: Wrists"


@pytest.fixture
def wrists(can_bench: MakeBench, can_info: MakeInfo, can_rig: MakeRig) -> tuple[CanBench, CanRig]:
    """The four wrists on a bus, enabled: (bench, rig)."""
    bench = can_bench("sito", "TA40-50", IDS)
    info = can_info(IDS, "TA40-50", interface=bench.interface, channel=bench.address)
    rig = can_rig(SitoSystem(Timing(), bench.host), info, bench.time)
    rig.activate()
    rig.command.damping[:] = 6.0
    rig.tick()
    diagnoses(rig)
    return bench, rig


def diagnoses(rig) -> dict[str, Diagnosis]:
    return {diagnosis.name: diagnosis for diagnosis in rig.system.diagnose()}


def at_fault(found: dict[str, Diagnosis]) -> set[str]:
    bad = (name for name, it in found.items() if it.level is ERROR)
    return {name.removeprefix("joint: ") for name in bad if name.startswith("joint: ")}


def until_at_fault(rig, joints: set[str]) -> dict[str, Diagnosis]:
    """Return the diagnoses once exactly these joints have a fault; each has a remedy."""
    rig.until(lambda _: at_fault(diagnoses(rig)) == joints)
    found = diagnoses(rig)
    for joint in joints:
        assert found[f"joint: {joint}"].codes
    return found


def test_motors_that_are_well_are_ok_and_known_in_detail(wrists) -> None:
    _, rig = wrists
    assert "diagnose" in HARDWARE_CONTRACT.taken_on(type(rig.system), "")
    rig.command.stiffness[:] = 20.0
    rig.until(lambda _: diagnoses(rig)["joint: j3"].values["stiffness in force [Nm/rad]"] == "20")
    found = diagnoses(rig)
    assert [*found] == [BUS, *(f"joint: j{i}" for i in range(4))]
    assert {it.level for it in found.values()} == {OK}
    bus, joint = found[BUS].values, found["joint: j3"].values
    assert bus["controller"] == "error active"
    assert int(bus["frames received"]) > 0
    assert int(bus["frames sent"]) > 0
    assert (joint["id"], joint["model"], joint["faults"]) == ("39", "TA40-50", "none")
    assert float(joint["latest frame [ms ago]"]) < 200.0


def test_frames_are_counted_by_direction_and_have_their_age(wrists) -> None:
    bench, rig = wrists
    rig.run(0.2)
    for id_ in IDS:
        bench.call("freeze", id_)
    rig.run(0.02)  # what is under way arrives
    before = diagnoses(rig)[BUS].values
    rig.run(0.16)
    found = diagnoses(rig)
    after = found[BUS].values
    assert after["frames received"] == before["frames received"]
    assert int(after["frames sent"]) >= int(before["frames sent"]) + 4 * 8
    for i in range(4):
        assert 160.0 <= float(found[f"joint: j{i}"].values["latest frame [ms ago]"]) <= 200.0
    for id_ in IDS:
        bench.call("freeze", id_, False)
    rig.run(0.1)


def test_load_of_the_bus_is_that_since_the_report_before(wrists) -> None:
    _, rig = wrists
    rig.until(lambda _: float(diagnoses(rig)[BUS].values[LOAD]) > 0.0)
    assert float(diagnoses(rig)[BUS].values[LOAD]) < 100.0


LOAD = "load by motors and host, at most [%]"


def test_lost_frames_are_a_warning_at_each_joint_while_they_last(wrists) -> None:
    bench, rig = wrists

    def seconds(count: int) -> list[Diagnosis]:
        """Return the diagnoses of all joints at the end of each second."""
        found = []
        for _ in range(count):
            rig.run(1.0)
            found += [it for name, it in diagnoses(rig).items() if name != BUS]
        return found

    assert {it.level for it in seconds(4)} == {OK}
    assert {it.values["frames that arrive [%]"] for it in seconds(1)} == {"100"}
    bench.call("drop", 0.5)
    seconds(2)
    for joint in seconds(2):
        assert (joint.level, joint.codes) == (WARN, ("FRAMES_LOST",))
        assert 30.0 < float(joint.values["frames that arrive [%]"]) < 70.0
    bench.call("drop", 0.0)
    seconds(2)
    assert {it.level for it in seconds(2)} == {OK}


def test_a_motor_that_is_enabled_again_lacks_no_frames(wrists) -> None:
    bench, rig = wrists
    rig.run(2.0)
    bench.call("power_off", 38)
    until_at_fault(rig, {"j2"})
    bench.call("power_on", 38)
    rig.call(rig.system.reset_faults)
    levels = []
    for _ in range(40):
        rig.run(0.1)
        found = diagnoses(rig)["joint: j2"]
        levels.append(found.level)
        assert "FRAMES_LOST" not in found.codes
    assert levels[-20:] == [OK] * 20


def test_diagnoses_of_motors_that_are_not_enabled_are_stale(can_info, can_rig) -> None:
    rig = can_rig(SitoSystem(), can_info(IDS, "TA40-50"))
    assert {it.level for it in diagnoses(rig).values()} == {DiagnosisLevel.STALE}


@pytest.mark.parametrize("fault", ["power_off", "freeze"])
def test_a_silent_motor_is_reported_at_its_joint_with_a_fix(wrists, fault) -> None:
    bench, rig = wrists
    bench.call(fault, 38)
    found = until_at_fault(rig, {"j2"})
    assert found["joint: j2"].message.startswith("silent for ")
    assert found[BUS].level is ERROR
    assert "j2 (id 38)" in found[BUS].message


@pytest.mark.parametrize(
    ("fault", "arguments"),
    [("power_off", ()), ("bitrate", (500_000,)), ("unplug", ()), ("bus_off", ())],
)
def test_a_bus_that_is_down_is_reported_at_all_joints_with_a_fix(wrists, fault, arguments) -> None:
    bench, rig = wrists
    bench._port.controller.restarts = False  # as without restart-ms
    bench.call(fault, *arguments)
    found = until_at_fault(rig, ALL)
    assert found[BUS].level is ERROR
    assert found[BUS].codes


def test_a_motor_with_another_id_is_missed_and_the_unknown_id_is_reported(wrists) -> None:
    bench, rig = wrists
    bench.call("change_id", 22, 24)
    found = until_at_fault(rig, {"j0"})
    assert found[BUS].codes


def test_frames_of_unknown_senders_are_a_warning_with_a_fix_and_counted(wrists) -> None:
    bench, rig = wrists
    bench.call("stray", identifier(22, MessageType.GAINS), bytes(8).hex())
    rig.until(lambda _: diagnoses(rig)[BUS].level is WARN)
    found = diagnoses(rig)[BUS]
    assert found.codes
    assert found.values["invalid frames"] == "1"
    assert "GAINS to id 22" in found.values["latest invalid frame"]


def test_destroyed_frames_are_a_warning_with_a_fix_and_are_counted(wrists) -> None:
    bench, rig = wrists
    bench.call("corrupt_next", 20)
    rig.until(lambda _: diagnoses(rig)[BUS].level is WARN)
    found = diagnoses(rig)[BUS]
    assert found.codes
    assert int(found.values["error frames"]) > 0
    assert found.values["transmit error counter"].isdecimal()
    assert at_fault(diagnoses(rig)) == set()


def test_a_command_beyond_the_wire_is_counted_at_its_joint(wrists) -> None:
    _, rig = wrists
    rig.command.velocity[1] = -4.0
    rig.until(lambda _: diagnoses(rig)["joint: j1"].values["saturated commands"] != "0")
    assert diagnoses(rig)["joint: j0"].values["saturated commands"] == "0"
    report = rig.until(lambda report: report.message)
    assert report.codes
