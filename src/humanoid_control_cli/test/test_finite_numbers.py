"""Every command refuses numbers that are not finite, before it does anything."""

from collections.abc import Iterator
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from humanoid_control_cli.app import app


def _number_options(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the words of each command with each of its options that takes one number."""
    for option in command.params:
        if option.type.name in {"float", "float range"} and option.opts[0].startswith("--"):
            yield (*words, option.opts[0])
    for name, inner in getattr(command, "commands", {}).items():
        yield from _number_options(inner, (*words, name))


OPTIONS = tuple(_number_options(typer.main.get_command(app)))


def test_the_search_finds_options_of_commands_and_of_commands_in_groups() -> None:
    found = {("mode", "--timeout"), ("up", "--rtf"), ("twin", "ring", "--mailbox-delay-ms")}
    assert found <= set(OPTIONS)


@pytest.mark.parametrize("number", ["nan", "inf", "-inf", "1e999"])
@pytest.mark.parametrize("words", OPTIONS, ids=" ".join)
def test_an_option_refuses_a_number_that_is_not_finite(words: tuple[str, ...], number: str) -> None:
    result = CliRunner().invoke(app, [*words, number])
    assert result.exit_code == 2
    assert f"Invalid value for '{words[-1]}'" in result.output
    assert number.replace("1e999", "inf") in result.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("payload set left_hand_link nan", "'KG': nan, expected a finite number"),
        ("payload set left_hand_link 1 --at 0 inf 0", "'--at': inf, expected a finite number"),
        ("move left_elbow_pitch=nan", "'left_elbow_pitch=nan', expected a finite number"),
        ("move left_elbow_pitch=-inf", "'left_elbow_pitch=-inf', expected a finite number"),
    ],
)
def test_an_argument_refuses_a_number_that_is_not_finite(arguments: str, message: str) -> None:
    result = CliRunner().invoke(app, arguments.split())
    assert result.exit_code == 2
    assert message in result.output
