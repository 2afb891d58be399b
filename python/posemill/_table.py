"""The results of runs as an Arrow table, for Parquet, pandas, Polars and Ray: `pip install 'posemill[table]'`."""

import os
import subprocess
import tempfile
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ._posemill import Error
from ._program import program

if TYPE_CHECKING:
    import pyarrow


def table(
    runs: str | os.PathLike | Sequence[str | os.PathLike], *, where: str | None = None, unique: bool = False
) -> "pyarrow.Table":
    """The rows of `posemill table`: one for each output that the manifests in the folders `runs` record.

    `where` and `unique` choose rows as `--where` and `--unique` do. `measures` is a struct with a `value` and a `unit` for each
    measure; what a row lacks is null. The column is left out where no row has a measure.
    """
    try:
        import pyarrow
        import pyarrow.json
    except ImportError as missing:
        raise ImportError("tables need pyarrow: pip install 'posemill[table]'") from missing
    folders = [runs] if isinstance(runs, (str, os.PathLike)) else list(runs)
    command = [program(), "table", "--format", "jsonl", "--color", "never"]
    command += [] if where is None else ["--where", where]
    command += ["--unique"] if unique else []
    with tempfile.TemporaryFile() as rows:
        ended = subprocess.run([*command, "--", *folders], stdout=rows, stderr=subprocess.PIPE, text=True, check=False)
        if ended.returncode != 0:
            raise Error(ended.stderr.strip().removeprefix("error: "))
        for line in ended.stderr.splitlines():
            if line.startswith("warning: "):
                warnings.warn(line.removeprefix("warning: "), stacklevel=2)
        # Types do not depend on the rows: a shard without verdicts has the same column as the others.
        text, number = pyarrow.string(), pyarrow.float64()
        schema = pyarrow.schema({
            **dict.fromkeys(["folder", "output", "output_blake3", "input", "input_blake3", "pipeline"], text),
            "frames": pyarrow.int64(),
            **{"rate_hz": number, "duration_s": number, "skeleton": text, "warnings": pyarrow.list_(text)},
            **{"verdict": text, "duplicate_of": text},
        })
        if rows.seek(0, os.SEEK_END) == 0:
            return schema.empty_table()
        rows.seek(0)
        found = pyarrow.json.read_json(rows, parse_options=pyarrow.json.ParseOptions(explicit_schema=schema))
    # Parquet has no struct without fields.
    return found if found.schema.field("measures").type.num_fields > 0 else found.drop_columns(["measures"])
