#!/bin/sh
# As IgH's program answers: an upload in hexadecimal and decimal, an abort on stderr and code 1.
echo "$@" >> "$FAKE_RING/calls"
[ "$1 $4 $5" = "-p --type int32" ] || exit 2
file="$FAKE_RING/$2_$6_$7"
if [ -e "$file.abort" ]; then
  echo "SDO transfer aborted with code 0x06020000" >&2
  exit 1
fi
if [ "$3" = download ]; then
  [ -e "$file.fixed" ] || echo "$8" > "$file"
else
  value=0
  [ -e "$file" ] && read -r value < "$file"
  printf '0x%08x %d\n' $((value & 0xffffffff)) "$value"
fi
