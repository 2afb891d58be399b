"""The program in the package is the program: its version, exit codes, signals and worker processes."""

import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import pytest

import posemill
from posemill import _program

NAME = "posemill" + (sysconfig.get_config_var("EXE") or "")
SCRIPT = Path(sysconfig.get_path("scripts")) / NAME
MODULE = [sys.executable, "-m", "posemill"]

pytestmark = pytest.mark.skipif(not SCRIPT.is_file(), reason="the package was built without the program (python/wheel.sh)")


def ended(command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


@pytest.fixture(params=[[str(SCRIPT)], MODULE], ids=["posemill", "python -m posemill"])
def command(request):
    return request.param


def test_the_program_has_the_version_of_the_package(command):
    assert ended([*command, "--version"]).stdout == f"posemill {posemill.__version__}\n"


def test_exit_codes_are_those_of_the_program(command, data, tmp_path):
    (tmp_path / "bad.bvh").write_text("HIERARCHY\n")
    retarget = [*command, "retarget", data / "wave.bvh", "--onto", data / "robot.glb", "-o", tmp_path / "a.glb"]
    assert ended(retarget).returncode == 0 and (tmp_path / "a.glb").stat().st_size > 1000
    assert ended([*command, "retarget", tmp_path / "bad.bvh", "--onto", data / "robot.glb", "-o", tmp_path / "b.glb"]).returncode == 1
    assert ended([*command, "retarget", "--nothing"]).returncode == 2


@pytest.mark.skipif(os.name == "nt", reason="signals are those of Unix")
def test_control_c_ends_the_run_with_a_summary(command, data, tmp_path):
    takes, out = tmp_path / "takes", tmp_path / "out"
    takes.mkdir()
    for k in range(400):
        shutil.copy(data / "walk.bvh", takes / f"{k:03}.bvh")
    run = [*command, "retarget", f"{takes}/*.bvh", "--onto", data / "robot.glb", "-o", f"{out}/", "--jobs", "1"]
    process = subprocess.Popen(run, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    begun = time.monotonic()
    while process.poll() is None and not list(out.glob("*.glb")) and time.monotonic() < begun + 60:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 1 and "Traceback" not in said, said
    assert 0 < len(list(out.glob("*.glb"))) < 400 and not list(out.glob(".*tmp*"))


def test_workers_of_python_are_the_program_of_the_package(data, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert _program.program() == str(SCRIPT)
    pipeline = posemill.Pipeline.standard(data / "robot.glb")
    made = pipeline.run([data / "walk.bvh"], tmp_path / "limited.npz", timeout="60s")
    assert [o["error"] for o in made] == [None]
    pipeline.run([data / "walk.bvh"], tmp_path / "free.npz")
    assert (tmp_path / "limited.npz").read_bytes() == (tmp_path / "free.npz").read_bytes()


def test_a_package_without_the_program_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sysconfig, "get_path", lambda *_, **__: str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with pytest.raises(FileNotFoundError, match="the program is not part of this package"):
        _program.program()
