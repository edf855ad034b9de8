"""Captured frames, read by this test and by the dissector of another project."""

import shutil
import subprocess
from collections import Counter

import pytest
from test_support.twin.capture import read_capture

from humanoid_devices_erob.protocol.frame import Command, Datagram, decode_frame, encode_frame
from humanoid_twin.errors import RingError
from humanoid_twin.ethercat.port import Capture

FRAMES = [encode_frame([Datagram(Command.BRD, 0, bytes(size))]) for size in (2, 80, 1400)]


def test_frames_are_read_back_with_their_times(tmp_path):
    capture = Capture(tmp_path / "ring.pcap")
    times = [0, 1_500_000_001, 10**12 + 999_999_999]
    for now, frame in zip(times, FRAMES, strict=True):
        capture.add(now, frame)
    capture.close()
    assert read_capture(tmp_path / "ring.pcap") == list(zip(times, FRAMES, strict=True))


def test_a_file_that_exists_is_not_overwritten(tmp_path):
    path = tmp_path / "notes"
    path.write_text("notes")
    with pytest.raises(RingError, match=r"notes' exists already: remove it"):
        Capture(path)
    assert path.read_text() == "notes"


def test_a_file_that_is_still_written_shows_its_whole_frames(tmp_path):
    path = tmp_path / "ring.pcap"
    capture = Capture(path)
    for frame in FRAMES:
        capture.add(1, frame)
    capture.close()
    path.write_bytes(path.read_bytes()[:-1])
    assert [frame for _, frame in read_capture(path)] == FRAMES[:2]


def test_requests_and_answers_are_both_captured(make_soem, tmp_path):
    path = tmp_path / "ring.pcap"
    master = make_soem(1, capture=path)
    master.ring.control.statistics()
    master.find()
    statistics = master.ring.control.statistics()
    frames = read_capture(path)
    assert len(frames) == 2 * statistics["frames"]
    counters = Counter(decode_frame(frame)[0].counter for _, frame in frames)
    assert counters[0] >= statistics["frames"]  # all requests, and those without answer
    assert [time for time, _ in frames] == sorted(time for time, _ in frames)


# SOEM sends from 01:01:01:01:01:01, which is no Ethernet address for one station.
NOT_OURS = "Source MAC must not be a group address: IEEE 802.3-2002, Section 3.2.3(b)"


@pytest.fixture(scope="module")
def tshark() -> str:
    program = shutil.which("tshark")
    if program is None:
        pytest.skip("tshark is not installed (Debian package tshark)")
    return program


def dissected(tshark: str, path, *options: str) -> list[str]:
    command = [tshark, "-n", "-r", str(path), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def complaints(tshark: str, path) -> list[str]:
    """Return the dissector's errors by frame, without its remark on the master's address."""
    found = dissected(
        tshark, path, "-Y", "_ws.malformed || _ws.short || _ws.expert",
        "-T", "fields", "-e", "_ws.expert.message", "-e", "_ws.malformed", "-e", "_ws.short",
    )  # fmt: skip
    return [line for line in found if line.strip() != NOT_OURS]


def test_a_third_party_dissects_bring_up_sdo_and_cyclic_data_without_complaint(
    make_soem, tmp_path, tshark
):
    path = tmp_path / "ring.pcap"
    master = make_soem(3, capture=path)
    master.operational()
    master.enable()
    slave = master.slaves[1]
    assert slave.sdo_read(0x1008, 0) == b"eRob"
    slave.sdo_write(0x2381, 1, (19).to_bytes(4, "little"))
    slave.sdo_read(0x1A00, 0, 256, True)
    assert len(slave.od) > 10
    with pytest.raises(master.pysoem.SdoError):
        slave.sdo_read(0x5555, 0)
    emergencies = []
    slave.add_emergency_callback(emergencies.append)
    master.ring.control.emergency(1, 0x8500)
    slave.sdo_read(0x1000, 0)
    assert [emergency.error_code for emergency in emergencies] == [0x8500]
    master.cycle(20, 0x0F)
    total = 2 * master.ring.control.statistics()["frames"]

    everything = dissected(tshark, path, "-T", "fields", "-e", "frame.protocols")
    assert len(everything) == total > 1500
    assert {line.split(":")[2] for line in everything} == {"ecatf"}
    assert complaints(tshark, path) == []


def test_the_third_party_reports_a_damaged_frame(tshark, tmp_path):
    capture = Capture(tmp_path / "ring.pcap")
    capture.add(0, FRAMES[1])
    capture.add(1, FRAMES[1][:50])
    capture.close()
    assert len(complaints(tshark, tmp_path / "ring.pcap")) == 1


def test_a_third_party_reads_the_same_values_as_we(make_soem, tmp_path, tshark):
    path = tmp_path / "ring.pcap"
    master = make_soem(2, capture=path)
    master.operational()
    master.slaves[1].sdo_write(0x2381, 1, (1234).to_bytes(4, "little"))
    master.ring.control.statistics()
    found = dissected(
        tshark, path, "-Y", "ecat_mailbox.coe.sdoccsid && ecat_mailbox.coe.sdoidx == 0x2381",
        "-T", "fields", "-e", "ecat_mailbox.coe.sdosub", "-e", "ecat_mailbox.coe.sdodata",
    )  # fmt: skip
    assert found[0] == "0x01\t0x000004d2"
