#!/bin/sh
# Builds the native parts into $1 (default: .tools/native of the project). Does nothing when they are newer
# than their sources. Each file appears complete or not at all.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here/../.tools/native}
cc=${CC:-gcc}
# A session's first process is linked with musl: a tenth of the size, and of the memory that every
# session keeps resident, of the same program with glibc. The kernel's headers come after musl's own.
static_cc=${STATIC_CC:-musl-gcc}
kernel_headers="-idirafter /usr/include -idirafter /usr/include/$("$cc" -print-multiarch)"
mkdir -p "$out"
work=$(mktemp -d "$out/.build-XXXXXX")
trap 'rm -rf "$work"' EXIT INT TERM

# is_fresh FILE SOURCE...: whether FILE exists and no source is newer.
is_fresh() {
  [ -e "$out/$1" ] || return 1
  built=$out/$1
  shift
  [ -z "$(find "$@" "$here/build.sh" -newer "$built" | head -n 1)" ]
}

# compile COMPILER FILE FLAGS... : builds into the work directory, then renames.
compile() {
  compiler=$1
  name=$2
  shift 2
  "$compiler" -std=gnu11 -O2 -Wall -Wextra -Werror "$@" -o "$work/$name"
  mv "$work/$name" "$out/$name"
}

sources=
for name in main launch sandbox seccomp capabilities init connection requests stream list protocol \
  terminal command shell shell-typing shell-files shell-kind shell-signal program ring typed; do
  sources="$sources $here/$name.c"
done

is_fresh waypoint-init $sources "$here/init.h" "$here/shell.h" "$here/protocol.h" "$here/sandbox.h" ||
  compile "$static_cc" waypoint-init -static -s -Wl,--gc-sections -ffunction-sections \
    $kernel_headers $sources
pages=
for name in main image content ranges fill serve; do
  pages="$pages $here/pages-$name.c"
done
pages="$pages $here/sums.c"
is_fresh waypoint-pages $pages "$here/pages.h" "$here/sums.h" ||
  compile "$static_cc" waypoint-pages -static -s $kernel_headers $pages
is_fresh snapshot-hook "$here/snapshot-hook.c" ||
  compile "$static_cc" snapshot-hook -static -s $kernel_headers "$here/snapshot-hook.c"
copy_sources="$here/image-copy.c $here/image-pagemap.c $here/image-share.c $here/image-clone.c"
is_fresh image-copy $copy_sources "$here/image-copy.h" ||
  compile "$static_cc" image-copy -static -s $kernel_headers $copy_sources
is_fresh image-sums "$here/image-sums.c" "$here/sums.c" "$here/sums.h" ||
  compile "$static_cc" image-sums -static -s $kernel_headers "$here/image-sums.c" "$here/sums.c"
is_fresh resume-hook "$here/resume-hook.c" ||
  compile "$static_cc" resume-hook -static -s $kernel_headers "$here/resume-hook.c"
is_fresh park-hook "$here/park-hook.c" ||
  compile "$static_cc" park-hook -static -s $kernel_headers "$here/park-hook.c"
is_fresh criu-enter "$here/criu-enter.c" ||
  compile "$static_cc" criu-enter -static -s $kernel_headers "$here/criu-enter.c"
is_fresh attach-mount "$here/attach-mount.c" ||
  compile "$static_cc" attach-mount -static -s $kernel_headers "$here/attach-mount.c"
preload_sources=
for name in rlimit-preload terminal-preload controlling-terminal-preload ptrace-preload \
  lock-preload remote-call socket-preload \
  mount-root-preload; do
  preload_sources="$preload_sources $here/$name.c"
done
is_fresh criu-preload.so $preload_sources "$here/lock-preload.h" "$here/remote-call.h" \
  "$here/socket-preload.h" ||
  compile "$cc" criu-preload.so -shared -fPIC $preload_sources
