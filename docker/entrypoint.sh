#!/usr/bin/env bash
# Opens ROS 2 and the workspace, then becomes the command of the container, as the user RUN_AS (prime).
#
# Docker gives the capabilities that it adds to root only. They are handed on as ambient ones: with capabilities in
# the file of Python the loader would forget LD_LIBRARY_PATH, and ROS 2 would not be found.
set -eo pipefail

declare -A number=([net_admin]=12 [net_raw]=13 [ipc_lock]=14 [sys_nice]=23) # linux/capability.h

# What this container was given of the capabilities the robot can use, in the words of setpriv.
given() {
  local name mask words=-all
  mask=$((16#$(sed -n 's/^CapPrm:\s*//p' /proc/self/status)))
  for name in "${!number[@]}"; do
    if ((mask >> number[$name] & 1)); then words+=",+$name"; fi
  done
  echo "$words"
}

# The user's groups and those that were added to the container, without root's.
groups() {
  { id -G "$1" && id -G; } | tr ' ' '\n' | sort -u | grep -vx 0 | paste -sd,
}

source "${ROS_SETUP:-/opt/ros/$ROS_DISTRO/setup.bash}"
# A development container is not built yet when it is first opened.
if [[ -e ${WORKSPACE:=/workspace}/install/local_setup.bash ]]; then source "$WORKSPACE/env.sh"; fi

user=${RUN_AS:-prime}
if ((EUID != 0)) || [[ $user == root ]]; then exec "$@"; fi
capabilities=$(given)
HOME=$(getent passwd "$user" | cut -d: -f6)
export HOME USER=$user
exec setpriv --reuid="$user" --regid="$(id -g "$user")" --groups="$(groups "$user")" \
  --inh-caps="$capabilities" --ambient-caps="$capabilities" "$@"
