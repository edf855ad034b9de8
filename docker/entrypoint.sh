#!/usr/bin/env bash
# Opens ROS 2 and the workspace, then becomes the command of the container.
set -eo pipefail
source "/opt/ros/${ROS_DISTRO}/setup.bash"
source /workspace/env.sh
exec "$@"
