"""The form of a ROS package's name."""

import re
from typing import Final

PACKAGE_NAME: Final = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
EXPECTED: Final = "expected small letters, digits and single underscores"
