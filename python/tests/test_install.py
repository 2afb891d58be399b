"""The shell installer, with releases on a server of this machine."""

import functools
import hashlib
import http.server
import os
import shutil
import subprocess
import sys
import tarfile
import threading

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32" or shutil.which("sh") is None, reason="the installer is a script for sh")
TARGETS = ["x86_64-unknown-linux-gnu", "x86_64-unknown-linux-static", "aarch64-apple-darwin"]
# Commands of the system under other names: what `uname` and `getconf` answer elsewhere.
LINUX = {"uname": 'case "$1" in -s) echo Linux ;; -m) echo x86_64 ;; esac', "getconf": "echo glibc 2.17"}


@pytest.fixture
def release(tmp_path):
    """A folder with the files of a release, and its address."""
    folder = tmp_path / "release"
    folder.mkdir()
    sums = ""
    for target in TARGETS:
        name = f"posemill-1.2.3-{target}"
        (tmp_path / name).mkdir()
        program = tmp_path / name / "posemill"
        program.write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo "posemill 1.2.3 for {target}"\n')
        program.chmod(0o755)
        archive = folder / f"{name}.tar.gz"
        with tarfile.open(archive, "w:gz") as tar:
            tar.add(tmp_path / name, name)
        sums += f"{hashlib.sha256(archive.read_bytes()).hexdigest()}  {archive.name}\n"
    (folder / "SHA256SUMS").write_text(sums)

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield folder, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.fixture
def install(data, release, tmp_path):
    """Runs the installer on a system with these commands."""
    commands = tmp_path / "commands"

    def run(programs=LINUX, path=os.environ["PATH"], **environment):
        shutil.rmtree(commands, ignore_errors=True)
        commands.mkdir()
        for name, body in programs.items():
            (commands / name).write_text(f"#!/bin/sh\n{body}\n")
            (commands / name).chmod(0o755)
        given = {"PATH": f"{commands}:{path}", "HOME": str(tmp_path / "home"), "POSEMILL_URL": release[1], "no_proxy": "*", **environment}
        given = {name: value for name, value in given.items() if value is not None}
        return subprocess.run([shutil.which("sh"), data.parent / "install.sh"], env=given, capture_output=True, text=True, check=False)

    return run


def test_the_program_of_the_system_is_installed(install, tmp_path):
    program = tmp_path / "home" / ".local" / "bin" / "posemill"
    ended = install()
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.startswith(f"posemill 1.2.3 for x86_64-unknown-linux-gnu is {program}\n")
    assert f'export PATH="{program.parent}:$PATH"' in ended.stdout
    # Once more replaces it.
    ended = install(path=f"{program.parent}:{os.environ['PATH']}")
    assert ended.stdout == f"posemill 1.2.3 for x86_64-unknown-linux-gnu is {program}\n"
    ended = install({"uname": 'case "$1" in -s) echo Darwin ;; -m) echo arm64 ;; esac'}, POSEMILL_DIR=str(tmp_path / "own"))
    assert ended.stdout.startswith("posemill 1.2.3 for aarch64-apple-darwin is ")
    assert [p.name for p in (tmp_path / "own").iterdir()] == ["posemill"]
    # Where there is no glibc, the static program.
    ended = install({**LINUX, "getconf": "exit 1"})
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.startswith(f"posemill 1.2.3 for x86_64-unknown-linux-static is {program}\n")


def test_each_fault_is_a_message_and_nothing_is_installed(install, release, tmp_path):
    folder, url = release
    archive = folder / "posemill-1.2.3-x86_64-unknown-linux-gnu.tar.gz"

    def refused(*words, **options):
        ended = install(**options)
        assert ended.returncode == 1 and ended.stderr.startswith("error: ") or "curl: " in ended.stderr, ended.stderr
        assert all(word in ended.stderr for word in words), ended.stderr
        assert not (tmp_path / "home").exists() and ended.stdout == ""

    refused("the address of the releases is not known", "hint: set POSEMILL_URL", POSEMILL_URL=None)
    refused(f"{url}/none/SHA256SUMS cannot be downloaded", POSEMILL_URL=f"{url}/none")
    refused("there is no program for FreeBSD on riscv64", programs={"uname": '[ "$1" = -s ] && echo FreeBSD || echo riscv64'})
    refused("has no program for aarch64-unknown-linux-gnu", "hint: build it", programs={**LINUX, "uname": '[ "$1" = -s ] && echo Linux || echo arm64'})
    (tmp_path / "file").write_text("")
    refused(f"{tmp_path}/file/bin cannot be written", "hint: set POSEMILL_DIR", POSEMILL_DIR=str(tmp_path / "file" / "bin"))
    # A system without the tools.
    few = tmp_path / "few"
    few.mkdir()
    for name in ["sh", "mktemp", "rm", "grep"]:
        (few / name).symlink_to(shutil.which(name))
    refused("neither curl nor wget is installed", path=str(few))
    content = archive.read_bytes()
    archive.write_bytes(content + b"\0")
    refused(f"{archive.name} is not what SHA256SUMS lists", "nothing was installed")
    archive.unlink()
    refused(f"{archive.name} cannot be downloaded")


def test_a_program_that_does_not_run_is_not_installed(install, release, tmp_path):
    folder, _ = release
    (tmp_path / "posemill-1.2.3-x86_64-unknown-linux-gnu" / "posemill").write_text("#!/bin/sh\nexit 127\n")
    archive = folder / "posemill-1.2.3-x86_64-unknown-linux-gnu.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(tmp_path / "posemill-1.2.3-x86_64-unknown-linux-gnu", "posemill-1.2.3-x86_64-unknown-linux-gnu")
    (folder / "SHA256SUMS").write_text(f"{hashlib.sha256(archive.read_bytes()).hexdigest()}  {archive.name}\n")
    ended = install()
    assert ended.returncode == 1 and "does not run on this system" in ended.stderr
    assert not (tmp_path / "home").exists()
