"""Entry point of `hc`. It turns errors into one sentence and an exit code."""

import os
import sys

from humanoid_control_cli.command_line.printed_output import report_output
from humanoid_control_cli.interrupts import importing
from humanoid_control_common.errors import RobotError
from humanoid_control_common.machine.library_environment import set_library_environment
from humanoid_control_common.machine.output import printable
from humanoid_control_common.machine.stop_signals import ignore_stop_signals


def main() -> int:
    """Run the command line. Returns the exit code, if it hasn't ended the process already."""
    set_library_environment()
    report_output()
    if os.environ.get("COLUMNS") == "0":  # unknown; rich would print nothing
        del os.environ["COLUMNS"]
    try:
        with importing():
            from humanoid_control_cli.app import app

        try:
            app(prog_name="hc")
        finally:
            _flush()
    except RobotError as error:
        sys.stderr.write(f"hc: {printable(str(error))}\n")
        return 1
    except OSError as error:  # such as of a disk without room for a temporary file
        place = f"{error.filename}: " if error.filename else ""
        sys.stderr.write(f"hc: {printable(place)}{error.strerror or error}\n")
        return 1
    except KeyboardInterrupt:
        return 130
    finally:
        ignore_stop_signals()  # its code is that of what it did
    return 0


def _flush() -> None:
    """Write what is printed: when Python ends, a failure has no message."""
    if sys.stdout is not None:
        sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
