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

import ray
import ray.data

from . import Pipeline

# Shares for each processor: takes differ in length, and a processor that is done begins another share.
SHARES = 8


def _rows(outcomes: list[dict]) -> list[dict]:
    """One row for each take: paths, what became of it, and its measures, in their units, as columns of their own."""
    rows = []
    for outcome in outcomes:
        measures = {metric["name"]: float(metric["value"]) for metric in outcome["metrics"]}
        row = {
            "path": outcome["inputs"][0],
            "status": outcome["status"],
            "outputs": list(outcome["outputs"]),
            "verdict": (outcome["verdict"] or {}).get("word", ""),
            "warnings": len(outcome["warnings"]),
            "error": outcome["error"] or "",
        }
        rows.append({**measures, **row})
    return rows


def _share(pipeline: Pipeline, takes: list[str], out: str, shard: str, limits: dict[str, Any]) -> list[dict]:
    """The rows of one share of the takes."""
    return _rows(pipeline.run(takes, out, shard=shard, jobs=1, **limits))


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
    """Runs a pipeline over takes, and returns a dataset with a row for each.

    `takes` is a folder, whose files of every depth that are takes by their extension are found, or a list of files and globs.
    `pipeline` is a `posemill.Pipeline`, or a character's file for that of `posemill retarget`. `out` is a folder; what is up to
    date there is skipped. `shares` is the number of tasks, by default eight for each processor of the cluster; `retries`, how often
    a task is run again if its machine or its process ends. `timeout` (`"60s"`) and `memory` (`"2GB"`) limit each take, which then
    runs in a process of its own.

    A take that fails is a row with its `error`, and does not affect the others. Quality is measured where the pipeline asks for it
    (`output.report` or `output.fail_on`); a take that is up to date has no measures.
    """
    if isinstance(takes, (str, os.PathLike)) and Path(takes).is_dir():
        found = [str(Path(takes).resolve() / "**" / f"*.{end}") for end in TAKES if any(Path(takes).rglob(f"*.{end}"))]
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
    rows: list[dict] = []
    while waiting:
        done, waiting = ray.wait(waiting)
        for share in ray.get(done):
            rows.extend(share)
        if progress and sys.stderr.isatty():
            print(f"\r{len(rows)} takes, {len(waiting)} of {count} shares to do ", end="", file=sys.stderr, flush=True)
    # Every row has every column: a measure that a take does not have is not a number.
    names = sorted({name for row in rows for name in row})
    rows.sort(key=lambda row: row["path"])
    return ray.data.from_items([{name: row.get(name, float("nan")) for name in names} for row in rows])


# Files that are takes by their extension; arrays (`.npz`) may be anything.
TAKES = ["bvh", "fbx", "glb", "amc", "vrma", "usda", "usdc", "usd", "usdz", "vmd", "c3d", "trc"]
