"""Parallel tests use different ROS domains."""

from __future__ import annotations

import pytest

from humanoid_control_common.testing import DOMAINS, SHARE, own_domains


@pytest.fixture(autouse=True)
def one_test_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SHARE, raising=False)


def test_one_process_has_all_domains(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    monkeypatch.delenv("PYTEST_XDIST_WORKER_COUNT", raising=False)
    assert sorted(own_domains()) == list(DOMAINS)


@pytest.mark.parametrize("workers", [1, 2, 8])
def test_no_domain_belongs_to_two_workers_and_each_has_some(
    workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_XDIST_WORKER_COUNT", str(workers))
    found: list[int] = []
    for worker in range(workers):
        monkeypatch.setenv("PYTEST_XDIST_WORKER", f"gw{worker}")
        own = own_domains()
        assert len(own) >= 10
        found += own
    assert sorted(found) == list(DOMAINS)


def test_no_domain_belongs_to_two_test_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[int] = []
    for share in ("0/2", "1/2"):
        monkeypatch.setenv(SHARE, share)
        monkeypatch.setenv("PYTEST_XDIST_WORKER_COUNT", "1")
        monkeypatch.setenv("PYTEST_XDIST_WORKER", "gw0")
        found += own_domains()
    assert sorted(found) == list(DOMAINS)
