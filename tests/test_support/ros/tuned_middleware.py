"""The settings of the middleware, for a node of a test or benchmark that starts other programs."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from humanoid_control_common.middleware.fastdds_tuning import tune_middleware


@contextmanager
def tuned_middleware(implementation: str) -> Iterator[None]:
    """Tune the middleware and restore the environment at the end.

    For programs that start others, which make their own choice. The first node must be made inside:
    it reads the profile.
    """
    before = dict(os.environ)
    tune_middleware(implementation)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
