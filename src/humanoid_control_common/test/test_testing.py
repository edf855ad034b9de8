"""Tests that run side by side keep what they start apart."""

from __future__ import annotations

import pytest

from humanoid_control_common.testing import DOMAINS, own_domains


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
