#!/usr/bin/env bash
# Finds a Python that can carry the workspace and lets it set up .venv (see setup_env.py).
#   scripts/workspace/setup.sh [--no-tools]      without what only tests and linters need
#   PYTHON=/path/to/python3.12 scripts/workspace/setup.sh   uses that Python and no other
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)

# First prefix of a sourced ROS 2, if there is one; wheels in a virtual environment do not count.
native_prefix() {
  local prefix prefixes
  IFS=: read -ra prefixes <<<"${ROS_DISTRO:+${AMENT_PREFIX_PATH:-}}"
  for prefix in ${prefixes[@]+"${prefixes[@]}"}; do
    if [[ -e $prefix/share/rclpy && ! -e $prefix/pyvenv.cfg ]]; then
      echo "$prefix"
      return
    fi
  done
}

native=$(native_prefix)
if [[ -n $native ]]; then
  read -ra candidates <<<"python3 /usr/bin/python3 python3.12 python3.11 python3.13 python3.14"
  probe='import sys, rclpy; sys.exit(sys.version_info < (3, 11))'
  advice="ROS 2 $ROS_DISTRO is sourced, but no Python >= 3.11 that can import its rclpy was found%s: \
use ROS 2 Jazzy or newer, or open a shell without ROS to use the wheels"
else
  probe='import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))'
  # The distribution's Python comes first, if python3-venv and python3-dev are installed with it: it is
  # compiled with profile-guided optimization. With a Python that pyenv compiles by its defaults the
  # stack needs about 15 % more processor time.
  distribution='import sys, importlib.util, os, sysconfig
sys.exit(not (sys.base_prefix == "/usr" and importlib.util.find_spec("ensurepip")
              and os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h"))))'
  candidates=()
  while read -r python; do
    if "$python" -c "$probe" 2>/dev/null && "$python" -c "$distribution" 2>/dev/null; then
      candidates+=("$python")
    fi
  done < <(type -aP python3)
  candidates+=(python3 python3.11 python3.12 python3.13)
  advice="Python 3.11, 3.12 or 3.13 is needed and none was found%s: install one, e.g. \
\`sudo apt install python3 python3-dev python3-venv\`, or name it: \`make setup PYTHON=/path/to/python3.12\`"
fi
if [[ -n ${PYTHON:-} ]]; then candidates=("$PYTHON"); fi

found=
for candidate in "${candidates[@]}"; do
  # Being there is not enough: a version manager's stub for a version it lacks is there, and fails.
  # The interpreter below a virtual environment is the one to use: .venv may have to be removed.
  read -r version python < <("$candidate" -c 'import sys
base = getattr(sys, "_base_executable", sys.executable)
print("%d.%d.%d %s" % (sys.version_info[:3] + (base,)))' 2>/dev/null) || continue
  if "$candidate" -c "$probe" 2>/dev/null; then
    exec "$python" "$here/setup_env.py" ${native:+--native "$native"} "$@"
  fi
  found+="${found:+, }$candidate is $version"
done
# shellcheck disable=SC2059 # the format is one of the two above
printf "setup: error: $advice\n" "${found:+ ($found)}" >&2
exit 1
