"""The ring as a process: start, stop, one per interface, and its veth pair."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from humanoid_twin.errors import VethError
from humanoid_twin.ethercat.veth import create_veth, remove_pair, remove_veth, veth_pair
from humanoid_twin.name_lock import NameInUseError, NameLock
from humanoid_twin.testing import ring

COMMAND = [sys.executable, "-m", "humanoid_twin.ethercat.main"]
GIVE_UP = 10.0  # [s] dead-man's switch of a wait
# Docker mounts /proc/sys so, unless a container is privileged.
READ_ONLY = "mount --bind /proc/sys /proc/sys; mount -o remount,ro,bind /proc/sys; "
MAKE = "from humanoid_twin.ethercat.veth import create_veth; create_veth('one', 'two')"


def interfaces() -> set[str]:
    return {name for _, name in socket.if_nameindex()}


@pytest.fixture
def pair() -> Iterator[tuple[str, str]]:
    """Names of the ends of a pair. Skips if no pair can be made."""
    names = f"hct{os.getpid()}a", f"hct{os.getpid()}b"
    try:
        with veth_pair(*names):
            yield names
    except VethError as error:
        pytest.skip(str(error))


def start(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_ring_reports_that_it_answers_and_ends_on_a_signal(pair, tmp_path, number):
    path = tmp_path / "control"
    process = start(pair[1], "--slaves", "3", "--control", str(path))
    assert process.stdout.readline() == f"ring: 3 slaves on {pair[1]}\n"
    assert path.is_socket()
    process.send_signal(number)
    _, errors = process.communicate(timeout=20)
    assert (process.returncode, errors) == (0, "")
    assert not path.exists()


def test_a_second_ring_on_an_interface_is_refused(pair):
    first = start(pair[1])
    assert first.stdout.readline().startswith("ring:")
    second = subprocess.run([*COMMAND, pair[1]], capture_output=True, text=True, check=False)
    assert second.returncode == 1
    assert second.stderr == f"ring: another ring answers on '{pair[1]}'\n"
    first.terminate()
    first.communicate(timeout=20)


def test_a_ring_without_its_interface_ends_with_an_error():
    done = subprocess.run([*COMMAND, "hc_none"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("ring: can't answer on 'hc_none'")


def test_a_ring_whose_interface_goes_away_ends_with_the_reason(pair):
    process = start(pair[1])
    assert process.stdout.readline().startswith("ring:")
    remove_veth(pair[0])
    _, errors = process.communicate(timeout=20)
    assert (process.returncode, errors) == (1, f"ring: interface '{pair[1]}' is gone\n")


@pytest.mark.parametrize(
    "wrong", [["--slaves", "0"], ["--mailbox-delay-ms", "-1"], ["--clock", "x"]]
)
def test_an_option_that_cannot_be_is_refused(wrong):
    done = subprocess.run([*COMMAND, "lo", *wrong], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert wrong[0] in done.stderr


def test_a_lock_is_free_again_when_its_holder_releases_it():
    first = NameLock("ring", "hc_lock_test")
    with pytest.raises(NameInUseError, match="ring 'hc_lock_test'"):
        NameLock("ring", "hc_lock_test")
    NameLock("cable", "hc_lock_test").close()
    first.close()
    NameLock("ring", "hc_lock_test").close()


MAKER = """
import sys
from humanoid_twin.ethercat.veth import veth_pair
with veth_pair(*sys.argv[1:]):
    print("up", flush=True)
    sys.stdin.read()
"""


@pytest.mark.usefixtures("pair")  # where no pair can be made it skips
def test_the_cable_of_a_killed_process_is_removed_when_another_one_makes_its_own():
    names = f"hck{os.getpid() % 10**6}a", f"hck{os.getpid() % 10**6}b"
    command = [sys.executable, "-c", MAKER, *names]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as maker:
        assert maker.stdout.readline() == b"up\n"
        with veth_pair("hc_later1", "hc_later2"):
            assert set(names) <= interfaces()  # it lives
        maker.kill()
    assert set(names) <= interfaces()
    with veth_pair("hc_later1", "hc_later2"):
        assert not set(names) & interfaces()
    with veth_pair(*names):
        another = pytest.raises(VethError, match=f"another process uses the .* '{names[0]}'")
        with another, veth_pair(*names):
            pass
        assert set(names) <= interfaces()


def test_a_pair_is_up_on_both_ends_and_sends_no_ipv6(pair):
    for name in pair:
        state = Path(f"/sys/class/net/{name}/operstate")
        deadline = time.monotonic() + GIVE_UP
        while state.read_text("ascii") != "up\n":  # the kernel reports it a little later
            assert time.monotonic() < deadline, state.read_text("ascii")
            time.sleep(0.01)
        addresses = Path("/proc/net/if_inet6")
        if addresses.exists():
            assert name not in addresses.read_text("ascii").split()


def test_a_pair_can_be_made_in_a_container_whose_proc_sys_is_read_only(pair):
    inside = ["unshare", "--net", "--mount", "sh", "-ec"]
    if subprocess.run([*inside, READ_ONLY], check=False, capture_output=True).returncode:
        pytest.skip("no network namespaces here")
    words = [*inside, READ_ONLY + 'exec "$0" -c "$1"', sys.executable, MAKE]
    made = subprocess.run(words, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr


@pytest.mark.parametrize(
    ("first", "second"),
    [("a234567890123456", "b"), ("", "b"), ("a b", "b"), ("a/b", "b"), ("same", "same")],
)
def test_names_that_no_interface_can_have_are_refused(first, second):
    with pytest.raises(VethError, match="name"):
        create_veth(first, second)


def test_a_pair_that_exists_is_not_made_again(pair):
    with pytest.raises(VethError, match="can't make the pair"):
        create_veth(pair[0], "hc_other")
    assert "hc_other" not in interfaces()


def test_only_the_two_ends_of_a_pair_are_removed_as_one(pair):
    with pytest.raises(VethError, match="no pair"):
        remove_pair(pair[0], "lo")
    with pytest.raises(VethError, match="no such interface"):
        remove_pair(pair[0], "hc_none")
    assert {pair[0], pair[1]} <= {name for _, name in socket.if_nameindex()}
    remove_pair(pair[1], pair[0])
    assert not {pair[0], pair[1]} & {name for _, name in socket.if_nameindex()}


def test_only_veth_interfaces_are_removed():
    with pytest.raises(VethError, match="can't remove 'hc_none'"):
        remove_veth("hc_none")
    with pytest.raises(VethError):
        remove_veth("lo")
    assert "lo" in interfaces()


def test_a_ring_process_survives_noise_on_the_cable(make_soem):
    master = make_soem(2)
    random = Random(7)
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as cable:
        cable.bind((master.ring.interface, 0))
        for _ in range(500):
            header = bytes(12) + b"\x88\xa4" + bytes([random.randrange(256), 0x10])
            cable.send(header + random.randbytes(random.randrange(1400)))
    assert master.find() == 2
    assert master.ring.control.statistics()["frames"] > 500


def test_failed_ring_leaves_no_process_and_no_interface():
    found = None
    try:
        with ring(1) as found:
            assert found.interface in interfaces()
            raise KeyError("in the middle")
    except VethError as error:
        pytest.skip(str(error))
    except KeyError:
        pass
    assert found.interface not in interfaces()
    assert found.process.poll() is not None
