"""Entry point of `hc`: the edge where errors become one sentence and an exit code."""

import sys

from humanoid_control_common.errors import RobotError


def main() -> int:
    """Run the command line. Returns the exit code, if it hasn't ended the process already."""
    try:
        from humanoid_control_cli.app import app

        app(prog_name="hc")
    except (RobotError, *_stream_errors()) as error:
        sys.stderr.write(f"hc: {error}\n")
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def _stream_errors() -> tuple[type[Exception], ...]:
    """Return the errors of the joint stream's client, if a command has loaded it."""
    module = sys.modules.get("humanoid_joint_client.errors")
    return () if module is None else (module.JointStreamError,)


if __name__ == "__main__":
    sys.exit(main())
