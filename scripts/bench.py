"""Run every benchmark one after another, write its JSON to build/benchmarks/ and show its table.

Arguments are passed to each benchmark. Run it in the workspace's environment (env.sh).
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "build" / "benchmarks"

sys.path.insert(0, str(ROOT))
from benchmarks.support.figures import Figure, report  # noqa: E402  # lives beside the benchmarks


def is_benchmark(script: Path) -> bool:
    """Return True for a benchmark that can be run; False for modules that benchmarks share."""
    return 'if __name__ == "__main__"' in script.read_text()


def run(script: Path, arguments: list[str]) -> bool:
    """Run one benchmark; return whether it succeeded."""
    print(f"bench: {script.stem}", flush=True)
    module = ".".join(script.relative_to(ROOT).with_suffix("").parts)
    command = [sys.executable, "-m", module, *arguments, "--json"]
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, cwd=ROOT)
    if result.returncode != 0:
        print(f"bench: error: {script.name} ended with {result.returncode}", file=sys.stderr)
        return False
    file = RESULTS / f"{script.stem}.json"
    file.write_text(result.stdout)
    figures = {name: Figure(**values) for name, values in json.loads(result.stdout).items()}
    report(f"{script.stem} (in {file.relative_to(ROOT)})", figures, as_json=False)
    return True


def main(arguments: list[str]) -> int:
    """Return exit code 0 if every benchmark succeeded."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    scripts = filter(is_benchmark, sorted(ROOT.glob("benchmarks/*/*.py")))
    failures = [script.name for script in scripts if not run(script, arguments)]
    return 1 if failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
