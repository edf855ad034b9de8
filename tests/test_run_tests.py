"""`make test` runs both halves, `make unit` and `make integration` one, whatever fails."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

import run_tests


class FakePytest:
    """Notes how it is called; answers with the given exit codes, then 0."""

    def __init__(self, *codes: int) -> None:
        self.codes = list(codes)
        self.calls: list[list[str]] = []

    def __call__(self, words: Sequence[str]) -> int:
        self.calls.append(list(words))
        return self.codes.pop(0) if self.codes else 0

    def markers(self) -> list[str]:
        return [words[words.index("-m") + 1] for words in self.calls]


UNIT = ["not soak and not alone and not programs"]
INTEGRATION = ["not soak and programs", "not soak and alone"]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], UNIT + INTEGRATION),
        (["--unit"], UNIT),
        (["--integration"], INTEGRATION),
        (["--unit", "--integration"], UNIT + INTEGRATION),
    ],
)
def test_what_is_run(
    arguments: list[str], expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest_ = FakePytest()
    monkeypatch.setattr(run_tests, "_run", pytest_)
    assert run_tests.main([*arguments, "-k", "damping"]) == 0
    assert pytest_.markers() == expected
    assert all(words[-2:] == ["-k", "damping"] for words in pytest_.calls)
    assert not any(word.startswith("--unit") for words in pytest_.calls for word in words)


def test_a_failure_of_one_half_runs_the_other_and_is_not_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest_ = FakePytest(1, 0, 0)
    monkeypatch.setattr(run_tests, "_run", pytest_)
    assert run_tests.main([]) == 1
    assert pytest_.markers() == UNIT + INTEGRATION


@pytest.mark.parametrize("failed", [(0, 1, 0), (0, 0, 1), (0, 1, 1)], ids=str)
@pytest.mark.parametrize(("second_try", "code"), [(0, 0), (1, 1)])
def test_only_tests_in_wall_time_get_a_second_try_and_all_of_them_alone(
    failed: tuple[int, ...], second_try: int, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest_ = FakePytest(*failed, second_try)
    monkeypatch.setattr(run_tests, "_run", pytest_)
    assert run_tests.main([]) == code
    assert ["--last-failed" in words for words in pytest_.calls] == [False] * 3 + [True]
    assert pytest_.markers()[-1] == "not soak and (alone or programs)"
    assert ["-n" in words for words in pytest_.calls] == [True, True, False, False]


@pytest.mark.parametrize("code", [2, 3])
def test_what_could_not_be_run_is_not_tried_again(
    code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest_ = FakePytest(0, code, 1)
    monkeypatch.setattr(run_tests, "_run", pytest_)
    assert run_tests.main([]) == code
    assert len(pytest_.calls) == 3


def test_an_empty_half_is_no_failure_but_two_are(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = run_tests.NOTHING_SELECTED
    for codes in ((nothing, nothing, 0), (nothing, 0, nothing), (0, nothing, nothing)):
        monkeypatch.setattr(run_tests, "_run", FakePytest(*codes))
        assert run_tests.main([]) == 0
    monkeypatch.setattr(run_tests, "_run", FakePytest(nothing, nothing, nothing))
    assert run_tests.main([]) == nothing
