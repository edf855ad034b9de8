"""Settings of property-based tests."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "workspace",
    deadline=None,
    max_examples=40,
    database=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("workspace")
