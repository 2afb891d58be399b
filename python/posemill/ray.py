"""Retargets folders of takes on a cluster of Ray: `pip install 'posemill[ray]'`.

A task is a share of the takes (`--shard` of the program) and holds no state: the manifest in the output folder says what is done.
A task that is lost with its machine is run again elsewhere, and makes only what is missing. Takes, characters and outputs are on
storage that all machines can access.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow
import ray
import ray.data
from pyarrow.compute import fill_null, struct_field

from . import Pipeline, table
from ._program import program

# Shares for each processor: takes differ in length, and a processor that is done begins another share.
SHARES = 8


def _share(pipeline: Pipeline, takes: list[str], out: str, shard: str, limits: dict[str, Any]) -> list[dict]:
    """What became of one share of the takes."""
    ended = pipeline.run(takes, out, shard=shard, jobs=1, **limits)
    return [{"path": t["inputs"][0], "status": t["status"], "error": t["error"] or "", "outputs": list(t["outputs"])} for t in ended]


def _results(ended: list[dict], out: str) -> pyarrow.Table:
    """A row of the table of results for each output, and one for each take that has none."""
    results = table(out)
    folders, outputs = (results[name].to_pylist() for name in ("folder", "output"))
    number = {os.path.normpath(os.path.join(f, o)): k for k, (f, o) in enumerate(zip(folders, outputs, strict=True))}
    columns: dict[str, list] = {"path": [], "status": [], "error": [], "output": []}
    numbers: list[int | None] = []
    for take in sorted(ended, key=lambda take: take["path"]):
        made = [path for path in map(os.path.normpath, take["outputs"]) if path in number]
        for path in made or [""]:
            numbers.append(number.get(path))
            for name, value in {**take, "output": path}.items():
                if name in columns:
                    columns[name].append(value)
    found = results.take(pyarrow.array(numbers, pyarrow.int64()))
    known = ["input_blake3", "output_blake3", "frames", "rate_hz", "duration_s", "skeleton", "warnings", "verdict", "duplicate_of"]
    texts = {name: pyarrow.array(values, pyarrow.string()) for name, values in columns.items()}
    measures = results.schema.field("measures").type if "measures" in results.column_names else []
    # A measure that a row lacks is not a number, so that it can be compared.
    values = {m.name: fill_null(struct_field(found["measures"], [m.name, "value"]), float("nan")) for m in measures}
    return pyarrow.table({**texts, **{name: found[name] for name in known}, **values})


def map_folder(
    takes: str | os.PathLike | Sequence[str | os.PathLike],
    pipeline: Pipeline | str | os.PathLike,
    out: str | os.PathLike,
    *,
    shares: int | None = None,
    retries: int = 3,
    timeout: str | None = None,
    memory: str | None = None,
    progress: bool = True,
) -> ray.data.Dataset:
    """Runs a pipeline over takes, and returns the table of results as a dataset.

    `takes` is a folder, whose files of every depth that are takes by their extension are found, or a list of files and globs.
    `pipeline` is a `posemill.Pipeline`, or a character's file for that of `posemill retarget`. `out` is a folder; what is up to
    date there is skipped. `shares` is the number of tasks, by default eight for each processor of the cluster; `retries`, how often
    a task is run again if its machine or its process ends. `timeout` (`"60s"`) and `memory` (`"2GB"`) limit each take, which then
    runs in a process of its own.

    The dataset has a row for each output of these takes, with the columns of `posemill table` and each measure, in its unit, as a
    column of its own. A take that fails is a row with its `error`, and does not affect the others. Quality is measured where the
    pipeline asks for it (`output.report` or `output.fail_on`).
    """
    program()  # The table is read by it: one that is missing is reported before the work.
    if isinstance(takes, (str, os.PathLike)) and Path(takes).is_dir():
        ends = {path.suffix.lower().removeprefix(".") for path in Path(takes).rglob("*")}
        found = [str(Path(takes).resolve() / "**" / f"*.{end}") for end in TAKES if end in ends]
        if not found:
            raise ValueError(f"the folder `{takes}` holds no takes")
    else:
        several = [takes] if isinstance(takes, (str, os.PathLike)) else takes
        found = [str(Path(take).absolute()) for take in several]
    if not isinstance(pipeline, Pipeline):
        pipeline = Pipeline.standard(Path(pipeline).absolute())
    if not ray.is_initialized():
        ray.init()
    count = shares or max(1, SHARES * int(ray.cluster_resources().get("CPU", 1)))
    limits = {"timeout": timeout, "memory": memory}
    # One thread for each task: the takes are what runs side by side.
    environment = {"env_vars": {"RAYON_NUM_THREADS": "1"}}
    task = ray.remote(num_cpus=1, max_retries=retries, runtime_env=environment)(_share)
    shared, folder = ray.put(pipeline), str(Path(out).absolute())
    waiting = [task.remote(shared, found, folder, f"{k + 1}/{count}", limits) for k in range(count)]
    ended: list[dict] = []
    while waiting:
        done, waiting = ray.wait(waiting)
        for share in ray.get(done):
            ended.extend(share)
        if progress and sys.stderr.isatty():
            print(f"\r{len(ended)} takes, {len(waiting)} of {count} shares to do ", end="", file=sys.stderr, flush=True)
    return ray.data.from_arrow(_results(ended, folder))


# Files that are takes by their extension; arrays (`.npz`) may be anything.
TAKES = ["bvh", "fbx", "glb", "amc", "vrma", "usda", "usdc", "usd", "usdz", "vmd", "c3d", "trc"]
