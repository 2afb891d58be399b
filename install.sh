#!/bin/sh
# Installs the program of a release, without a compiler: `sh install.sh`, or `curl -LsSf ADDRESS/install.sh | sh`.
#
# POSEMILL_DIR is the folder of the program, ~/.local/bin by default; POSEMILL_VERSION a release, the latest by default;
# POSEMILL_URL the address of a folder with the files of a release, for mirrors. The archive is compared with SHA256SUMS before it
# is unpacked. It needs curl or wget, tar, and sha256sum or shasum.
set -eu

# Filled in by `.ci/addresses`.
repository=""

fail() {
    echo "error: $1" >&2
    if [ -n "${2:-}" ]; then echo "  hint: $2" >&2; fi
    exit 1
}

# The name of the archive's target. Programs for Linux run on glibc 2.17 and later; where there is no glibc, the static one runs.
target() {
    case "$(uname -s)/$(uname -m)" in
        Linux/x86_64 | Linux/amd64) machine=x86_64 ;;
        Linux/aarch64 | Linux/arm64) machine=aarch64 ;;
        Darwin/x86_64) echo x86_64-apple-darwin && return ;;
        Darwin/arm64) echo aarch64-apple-darwin && return ;;
        *) fail "there is no program for $(uname -s) on $(uname -m)" "build it: \`cargo install posemill\`" ;;
    esac
    if getconf GNU_LIBC_VERSION > /dev/null 2>&1; then libc=gnu; else libc=static; fi
    echo "$machine-unknown-linux-$libc"
}

download() {
    if command -v curl > /dev/null; then
        curl --location --silent --show-error --fail --output "$2" "$1" || fail "$1 cannot be downloaded"
    elif command -v wget > /dev/null; then
        wget -q -O "$2" "$1" || fail "$1 cannot be downloaded"
    else
        fail "neither curl nor wget is installed"
    fi
}

sum() {
    if command -v sha256sum > /dev/null; then
        found="$(sha256sum "$1")"
    elif command -v shasum > /dev/null; then
        found="$(shasum -a 256 "$1")"
    else
        fail "neither sha256sum nor shasum is installed: the archive cannot be checked"
    fi
    echo "${found%% *}"
}

main() {
    if [ -n "${POSEMILL_URL:-}" ]; then
        from="$POSEMILL_URL"
    elif [ -z "$repository" ]; then
        fail "the address of the releases is not known" "set POSEMILL_URL"
    elif [ -n "${POSEMILL_VERSION:-}" ]; then
        from="$repository/releases/download/v$POSEMILL_VERSION"
    else
        from="$repository/releases/latest/download"
    fi
    folder="${POSEMILL_DIR:-${HOME:?HOME is not set}/.local/bin}"
    target="$(target)"
    work="$(mktemp -d)"
    trap 'rm -rf "$work"' EXIT
    download "$from/SHA256SUMS" "$work/SHA256SUMS"
    line="$(grep -E "^[0-9a-f]{64} [ *]posemill-[^ ]*-$target\.tar\.gz$" "$work/SHA256SUMS")" \
        || fail "the release at $from has no program for $target" "build it: \`cargo install posemill\`"
    archive="${line##*[ *]}"
    download "$from/$archive" "$work/$archive"
    found="$(sum "$work/$archive")"
    [ "$found" = "${line%% *}" ] \
        || fail "$archive is not what SHA256SUMS lists: it was damaged or replaced; nothing was installed" "download it again"
    tar -xzf "$work/$archive" -C "$work" || fail "$archive cannot be unpacked"
    program="$work/${archive%.tar.gz}/posemill"
    version="$("$program" --version)" || fail "the program for $target does not run on this system" "build it: \`cargo install posemill\`"
    # In the folder itself first, so that a program that runs is replaced in one step.
    { mkdir -p "$folder" && cp "$program" "$folder/.posemill.part" && mv -f "$folder/.posemill.part" "$folder/posemill"; } 2> /dev/null \
        || fail "$folder cannot be written" "set POSEMILL_DIR to another folder"
    echo "$version is $folder/posemill"
    case ":$PATH:" in
        *":$folder:"*) ;;
        *) echo "$folder is not in PATH; add to the start-up file of your shell: export PATH=\"$folder:\$PATH\"" ;;
    esac
}

main
