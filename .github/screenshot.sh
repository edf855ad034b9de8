#!/usr/bin/env bash
# A picture of the browser viewer with Prime on mock hardware:  screenshot.sh FILE.png
set -eo pipefail
picture=$(realpath "$1")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source env.sh
export ROS_DOMAIN_ID=$((RANDOM % 101 + 1))
port=8765

python -m humanoid_control_cli.main up mock --viewer --port "$port" &
robot=$!
profile=$(mktemp -d)
trap 'kill -INT "$robot" 2>/dev/null; wait "$robot" || true; rm -rf "$profile"' EXIT
answers() { exec 3<>"/dev/tcp/127.0.0.1/$port" && printf 'GET / HTTP/1.0\r\n\r\n' >&3; }
until (answers) 2>/dev/null; do
  kill -0 "$robot" # ended before its page was there
  sleep 0.2
done
chromium --headless --no-sandbox --use-angle=swiftshader --enable-unsafe-swiftshader --disable-quic \
  --no-first-run --disable-background-networking --disable-component-update --disable-sync \
  --user-data-dir="$profile" --window-size=1600,1000 --virtual-time-budget=20000 --timeout=60000 \
  --screenshot="$picture" "http://127.0.0.1:$port" 2>/dev/null
test -s "$picture"
