"""The table of results in Python is that of the program, and Parquet keeps its types, units and nulls."""

import json
import shutil
import subprocess

import pytest

import posemill
from posemill import _program

pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


@pytest.fixture
def night(data, tmp_path):
    """The results of five takes, one of them there twice, three of them measured."""
    takes = tmp_path / "takes"
    takes.mkdir()
    for name in ["walk", "wave", "turn"]:
        shutil.copy(data / f"{name}.bvh", takes)
    written = {"dir": str(tmp_path / "night"), "formats": ["npz"]}
    measured = {"input": {"motion": [f"{takes}/*.bvh"], "character": str(data / "robot.glb")}, "stage": [{"use": "retarget"}]}
    posemill.Pipeline({**measured, "output": {**written, "report": True}}).run()
    shutil.copy(data / "jump.bvh", takes)
    shutil.copy(data / "jump.bvh", takes / "leap.bvh")
    posemill.Pipeline({**measured, "output": {**written, "report": False}}).run([takes / "jump.bvh", takes / "leap.bvh"])
    return tmp_path / "night"


def test_parquet_keeps_types_units_and_nulls(night, tmp_path):
    parquet.write_table(posemill.table(night), tmp_path / "night.parquet")
    back = parquet.read_table(tmp_path / "night.parquet")
    said = subprocess.run([_program.program(), "table", night], capture_output=True, text=True, check=True).stdout
    rows = [json.loads(line) for line in said.splitlines()]
    # What a row does not have is null.
    every = {name for row in rows for name in row["measures"]}
    for row in rows:
        row["measures"] = {name: row["measures"].get(name) for name in every}
    assert len(rows) == 5 and back.to_pylist() == rows
    assert [row["measures"]["foot_skate_p95"] is None for row in rows] == [True, True, False, False, False]
    assert back["measures"][2]["foot_skate_p95"]["unit"].as_py() == "m/s"
    assert back.schema.field("frames").type == pyarrow.int64() and back["duplicate_of"][1].as_py() == "jump.bvh"


def test_types_do_not_depend_on_the_rows(night, data, tmp_path):
    copied = {"output": {"dir": str(tmp_path / "plain"), "formats": ["npz"], "report": False}, "stage": [{"use": "resample"}]}
    posemill.Pipeline(copied).run([data / "walk.bvh"])
    whole, plain = posemill.table([night]), posemill.table(tmp_path / "plain")
    assert plain.num_rows == 1 and plain["verdict"].to_pylist() == [None]
    assert plain.schema == whole.schema.remove(whole.schema.get_field_index("measures"))
    parquet.write_table(plain, tmp_path / "plain.parquet")
    none = posemill.table(night, where="frames < 0")
    assert none.num_rows == 0 and none.schema == plain.schema


def test_rows_are_chosen_and_faults_are_reported(night):
    with pytest.warns(UserWarning, match="2 rows lack a value"):
        assert posemill.table(night, where="foot_skate_p95 < 9 m/s").num_rows == 3
    assert posemill.table(night, unique=True).num_rows == 4
    with pytest.raises(posemill.Error, match="holds no results"):
        posemill.table(night / "none")
    with pytest.raises(posemill.Error, match="foot_skat"):
        posemill.table(night, where="foot_skat < 1")
