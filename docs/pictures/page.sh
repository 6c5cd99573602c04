#!/bin/sh
# page.sh makes the pictures of the top of docs/cpus.html: on a screen and on a phone, in light and
# dark colours. It needs Debian's packages chromium and pngquant.
# SPDX-License-Identifier: MIT
set -eu
cd "$(dirname "$0")"
profile=$(mktemp -d)
trap 'rm -rf "$profile"' EXIT

for size in 1300,1500 412,1500; do
  for scheme in light dark; do
    picture=cpus-${size%,*}-$scheme.png
    case $scheme in light) number=1 ;; dark) number=0 ;; esac # Chromium's names of the schemes
    chromium --headless --no-sandbox --disable-gpu --disable-background-networking \
      --hide-scrollbars --user-data-dir="$profile" --window-size=$size \
      --blink-settings=preferredColorScheme="$number" --screenshot="$PWD/$picture" \
      "file://$PWD/../cpus.html" 2>/dev/null
    pngquant --force --strip --output "$picture" 64 "$picture"
  done
done
