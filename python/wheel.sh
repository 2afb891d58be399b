#!/usr/bin/env bash
# Builds the wheel with the program inside, into target/wheels: `python/wheel.sh [TARGET]`.
#
# TARGET is one of rustc's; with a version of glibc behind it (`x86_64-unknown-linux-gnu.2.17`) the program is linked by zig and runs
# on every Linux with that glibc or a later one. It needs `maturin`, and for such targets `cargo-zigbuild` and `ziglang`
# (`pip install maturin cargo-zigbuild ziglang`). PROFILE is a profile of cargo, `release` by default. PROGRAM is a program that is
# built already; without it one is built.
#
# The program is a file of its own in the wheel, not an entry point of Python: it starts without an interpreter, signals and exit
# codes are its own, and so are the worker processes that it starts.
set -euo pipefail
cd "$(dirname "$0")/.."
profile="${PROFILE:-release}"
target="${1:-}"
base="${target%%-gnu.*}"
export CARGO_TARGET_DIR="$PWD/target" CARGO_PROFILE_RELEASE_STRIP=symbols

build=(build)
options=(--profile "$profile" --locked)
wheel=()
if [ "$base" != "$target" ]; then
    base="$base-gnu"
    build=(zigbuild)
    glibc="${target##*-gnu.}"
    wheel=(--zig --compatibility "manylinux_${glibc/./_}")
fi
if [ -n "$target" ]; then wheel+=(--target "$base"); fi
program="${PROGRAM:-}"
if [ -z "$program" ]; then
    cargo "${build[@]}" "${options[@]}" ${target:+--target "$target"}
    program="target/${base:+$base/}$([ "$profile" = dev ] && echo debug || echo "$profile")/posemill"
    if [ -f "$program.exe" ]; then program="$program.exe"; fi
fi
# maturin puts what is in `posemill._posemill.data/scripts` beside Python's own programs.
scripts=python/posemill._posemill.data/scripts
trap 'rm -rf python/posemill._posemill.data' EXIT
mkdir -p "$scripts"
cp "$program" "$scripts/"
maturin build --quiet --manifest-path python/Cargo.toml "${options[@]}" ${wheel[@]+"${wheel[@]}"} --out target/wheels
ls -l target/wheels
