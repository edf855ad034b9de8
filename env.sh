# shellcheck shell=bash
# Opens the workspace in this shell:  source env.sh   (bash and zsh; after `make setup build`)
#
# Puts `hc`, `colcon`, ROS 2 and the packages of src/ on the paths, whether ROS 2 is installed on
# this machine or comes as wheels in .venv. Sourcing it again changes nothing, not the order of
# workspaces that were opened on top of it either.

_humanoid_env() {
  _humanoid_root=$1 _humanoid_shell=$2

  if [ ! -f "$_humanoid_root/.venv/setup.sh" ] ||
     [ ! -f "$_humanoid_root/install/local_setup.$_humanoid_shell" ]; then
    echo "env.sh: the workspace is not built yet: run \`make setup build\` in $_humanoid_root" >&2
    return 1
  fi
  # Scripts and links of both folders have the path of the workspace in them.
  if ! grep -qF "\"root\": \"$_humanoid_root\"" "$_humanoid_root/.venv/setup-state.json"; then
    echo "env.sh: the workspace was built in another folder: run \`make setup build\` in $_humanoid_root" >&2
    return 1
  fi
  case "${AMENT_PREFIX_PATH:-}" in
    "$_humanoid_root"/*) ;;
    *:"$_humanoid_root"/install/*) return 0 ;;  # another workspace lies on top
  esac
  . "$_humanoid_root/.venv/setup.sh" || return 1
  . "$_humanoid_root/install/local_setup.$_humanoid_shell"
  _humanoid_link_modules "$_humanoid_root/install"

  # The robot's topics stay on this machine unless the environment says otherwise.
  export ROS_AUTOMATIC_DISCOVERY_RANGE="${ROS_AUTOMATIC_DISCOVERY_RANGE:-LOCALHOST}"
  # rcl keeps its log files under HOME, and does not start without one.
  if [ -z "${HOME:-}" ] && [ -z "${ROS_LOG_DIR:-}" ]; then
    export ROS_LOG_DIR="$_humanoid_root/log/ros"
  fi
}

# Puts the folder of links (scripts/workspace/module_links.py) where the first folder is that it
# replaces, and removes the others: Python looks every module up in each folder of PYTHONPATH.
_humanoid_link_modules() {
  [ -f "$1/python_folders.txt" ] || return 0
  PYTHONPATH=$(printf '%s' "$PYTHONPATH" | _humanoid_install=$1 awk '
    BEGIN {
      links = ENVIRON["_humanoid_install"] "/python"
      replaced[links] = 1
      list = ENVIRON["_humanoid_install"] "/python_folders.txt"
      while ((getline folder < list) > 0) replaced[folder] = 1
      RS = ":"
    }
    {
      if ($0 in replaced) { if (there++) next; $0 = links }
      printf "%s%s", separator, $0
      separator = ":"
    }')
}

# colcon's scripts read variables that may be unset, which `set -u` of the caller would not forgive.
case $- in *u*) _humanoid_nounset=1; set +u ;; *) _humanoid_nounset= ;; esac
if [ -n "${ZSH_VERSION:-}" ]; then
  eval '_humanoid_here=${(%):-%x}'  # hidden from bash, to which this is no expansion at all
  # shellcheck disable=SC2154 # set by eval
  _humanoid_env "$(builtin cd -q "$(dirname "$_humanoid_here")" >/dev/null && pwd -P)" zsh
elif [ -n "${BASH_VERSION:-}" ]; then
  _humanoid_env "$(builtin cd "$(dirname "${BASH_SOURCE[0]}")" >/dev/null && pwd -P)" bash
else
  echo "env.sh: only bash and zsh are supported" >&2
  false
fi
_humanoid_status=$?
if [ -n "$_humanoid_nounset" ]; then set -u; fi
unset -f _humanoid_env _humanoid_link_modules
unset _humanoid_root _humanoid_shell _humanoid_here _humanoid_nounset
# `return` fails in a file that is run instead of sourced, which would otherwise do nothing, silently.
return $_humanoid_status 2>/dev/null || { echo "env.sh: source it: \`source env.sh\`" >&2; exit 1; }
