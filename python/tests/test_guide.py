"""The guide tells the truth: its Python runs, in order, in a fresh folder with the repository's data beside it."""

import re
import shutil


def test_every_block_of_the_guide_runs(data, monkeypatch, tmp_path, capsys):
    guide = (data.parent / "docs" / "python.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", guide, re.M | re.S)
    assert len(blocks) >= 5
    (tmp_path / "data").mkdir()
    for path in data.iterdir():
        if path.is_file():
            shutil.copy(path, tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in blocks:
        exec(compile(block, "docs/python.md", "exec"), names)  # the blocks go on from each other
    said = capsys.readouterr().out
    assert "<Motion `walk` of `robot`" in said and "there is no clip `Dance`" in said
    assert (tmp_path / "robot-walk.glb").is_file() and (tmp_path / "out" / "30hz" / "walk.npz").is_file()
