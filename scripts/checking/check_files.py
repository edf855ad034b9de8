"""Check files that other systems run: Dockerfile, compose file, workflows, forms, shell scripts.

Also C, with more warnings than the build, which must not fail by those of a newer compiler. Run it
in the workspace's environment (env.sh); `make lint` does.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SHELL_SCRIPTS = (
    ".ci/run",
    ".ci/packages",
    "env.sh",
    "scripts/*/*.sh",
    "docker/*.sh",
    ".github/*.sh",
)
SCHEMAS = {  # of check-jsonschema, which brings them along
    "vendor.compose-spec": "docker/compose.yaml",
    "vendor.github-workflows": ".github/workflows/*.yml",
    "vendor.dependabot": ".github/dependabot.yml",
    "vendor.github-issue-config": ".github/ISSUE_TEMPLATE/config.yml",
    "vendor.github-issue-forms": ".github/ISSUE_TEMPLATE/[!c]*.yml",
}


@dataclass(frozen=True, slots=True)
class Check:
    """A program and the files that it checks, as patterns below the workspace."""

    command: tuple[str, ...]
    patterns: tuple[str, ...]
    optional: bool = False  # not there on every platform

    def files(self, root: Path) -> list[str]:
        """Return the files, relative to `root`. Raises FileNotFoundError if a pattern has none."""
        found: list[str] = []
        for pattern in self.patterns:
            matches = sorted(root.glob(pattern))
            if not matches:
                raise FileNotFoundError(f"{pattern}: nothing of this name in {root}")
            found += [str(match.relative_to(root)) for match in matches]
        return found


C_COMPILER = (  # the warnings of an extension module
    *("cc", "-fsyntax-only", "-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Werror"),
    *("-DPy_LIMITED_API=0x030B0000", f"-I{sysconfig.get_path('include')}"),
)
CHECKS = (
    Check(C_COMPILER, ("src/*/*/*/*.c",)),
    Check(("hadolint",), ("docker/Dockerfile",)),
    Check(("shellcheck", "--severity=warning"), SHELL_SCRIPTS, optional=True),
    Check(("actionlint",), (".github/workflows/*.yml",)),
    *(
        Check(("check-jsonschema", "--quiet", "--builtin-schema", schema), (pattern,))
        for schema, pattern in SCHEMAS.items()
    ),
)


def run(check: Check, root: Path) -> bool:
    """Return True if the program finds no fault. Its output goes to the terminal."""
    program = check.command[0]
    if shutil.which(program) is None and check.optional:
        print(f"check: {program} is not installed, {len(check.files(root))} files were not checked")
        return True
    command = [*check.command, *check.files(root)]
    if subprocess.run(command, cwd=root, check=False).returncode == 0:
        return True
    print(f"check: error: {program} finds fault with {', '.join(check.patterns)}", file=sys.stderr)
    return False


def main(checks: Sequence[Check] = CHECKS, root: Path = ROOT) -> int:
    """Run all checks. Returns exit code 0 if none finds a fault."""
    results = [run(check, root) for check in checks]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
