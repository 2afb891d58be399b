"""The guide's program for Ray Data, with two workers on this machine."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import posemill

pytest.importorskip("ray.data", reason="Ray Data is not installed: pip install 'ray[data]'", exc_type=ImportError)

PROGRAM = Path(__file__).resolve().parents[1] / "examples" / "ray_folder.py"


def test_two_workers_make_what_one_call_makes_and_tell_what_failed(data, tmp_path):
    takes = tmp_path / "takes"
    for day in ["a", "b"]:
        (takes / day).mkdir(parents=True)
        for name in ["walk", "wave"]:
            (takes / day / f"{name}.bvh").write_bytes((data / f"{name}.bvh").read_bytes())
    (takes / "bad.bvh").write_text("HIERARCHY\n")
    command = [sys.executable, PROGRAM, takes, data / "robot.glb", tmp_path / "out", "2"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.stdout.strip().endswith("4 takes written, 1 failed"), ended.stdout + ended.stderr
    assert ended.returncode == 1 and "bad.bvh: `" in ended.stderr
    here = posemill.retarget(posemill.load(data / "walk.bvh"), data / "robot.glb")
    for day in ["a", "b"]:
        with np.load(tmp_path / "out" / day / "walk.npz") as arrays:
            assert np.array_equal(arrays["positions"], here.positions.astype(np.float32))
