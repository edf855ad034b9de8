"""The generated module of the joint stream's messages."""

from __future__ import annotations

import shutil

import pytest

import generate_joint_stream


@pytest.mark.skipif(shutil.which("protoc") is None, reason="needs protoc")
def test_the_module_is_what_the_generator_makes() -> None:
    module = generate_joint_stream.PACKAGE / generate_joint_stream.MODULE
    assert module.read_text() == generate_joint_stream.generated()
