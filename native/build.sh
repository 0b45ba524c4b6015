#!/bin/sh
# Builds the native parts into $1 (default: .tools/native of the project). Does nothing when they are newer
# than their sources. Each file appears complete or not at all.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here/../.tools/native}
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$here"
cc=${CC:-gcc}
# A session's first process is linked with musl: a tenth of the size, and of the memory that every
# session keeps resident, of the same program with glibc. The kernel's headers come after musl's own.
static_cc=${STATIC_CC:-musl-gcc}
kernel_headers="-idirafter /usr/include -idirafter /usr/include/$("$cc" -print-multiarch)"
work=$(mktemp -d "$out/.build-XXXXXX")
trap 'rm -rf "$work"' EXIT INT TERM

# is_fresh FILE SOURCE...: whether FILE exists and no source is newer.
is_fresh() {
  [ -e "$out/$1" ] || return 1
  built=$out/$1
  shift
  [ -z "$(find "$@" build.sh -newer "$built" | head -n 1)" ]
}

# compile COMPILER FILE FLAGS... : builds into the work directory, then renames.
compile() {
  compiler=$1
  name=$2
  shift 2
  "$compiler" -std=gnu11 -O2 -Wall -Wextra -Werror "$@" -o "$work/$name"
  mv "$work/$name" "$out/$name"
}

# static FILE SOURCE-OR-HEADER...: a program that needs nothing of the machine's.
static() {
  name=$1
  shift
  is_fresh "$name" "$@" && return
  sources=
  for file; do
    case $file in *.c) sources="$sources $file" ;; esac
  done
  compile "$static_cc" "$name" -static -s -Wl,--gc-sections -ffunction-sections $kernel_headers $sources
}

static waypoint-init init/*
static waypoint-pages pages-server/* image-sums/sums.*
static image-copy image-copy/*
static image-sums image-sums/*
static snapshot-hook criu-hooks/snapshot*
static resume-hook criu-hooks/resume*
static park-hook criu-hooks/park-hook.c
static criu-enter criu-enter/*
static attach-mount attach-mount/*
static share-tree share-tree/*
static warm-memory warm-memory/*
static memory-tracker memory-tracker/*
static image-assemble image-assemble/* memory-tracker/page-scan.h image-copy/image-copy.h image-copy/image-pagemap.c image-copy/image-clone.c
# With the machine's own C library, because it loads a library of the machine.
is_fresh link-maker link-maker/* || compile "$cc" link-maker link-maker/*.c -ldl
is_fresh criu-preload.so criu-preload/* criu-enter/enter.* criu-hooks/snapshot.* criu-hooks/resume.* memory-tracker/page-scan.h memory-tracker/mapping-flags.* ||
  compile "$cc" criu-preload.so -shared -fPIC criu-preload/*.c criu-enter/enter.c criu-hooks/snapshot.c criu-hooks/resume.c memory-tracker/mapping-flags.c
