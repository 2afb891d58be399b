"""What the documentation site holds that is in no page of the repository: the program's JSON Schemas."""

import json
import sysconfig
from pathlib import Path
from types import SimpleNamespace

import pytest

PROGRAM = Path(sysconfig.get_path("scripts")) / ("posemill" + (sysconfig.get_config_var("EXE") or ""))

pytestmark = pytest.mark.skipif(not PROGRAM.is_file(), reason="the package was built without the program (python/wheel.sh)")


@pytest.fixture
def site(data, tmp_path):
    """The functions of the script that builds the site, with an empty folder for its pages."""
    path = data.parent / ".ci" / "site"
    script = {"__file__": str(path), "__name__": "site"}
    exec(compile(path.read_text(), path, "exec"), script)
    script |= {"PAGES": tmp_path, "PROGRAM": PROGRAM}
    return SimpleNamespace(**script)


def test_every_json_document_has_its_schema_on_the_site(site, data, tmp_path):
    names = [line.split()[0] for line in site.said("schema").splitlines()]
    page = site.with_schemas((data.parent / "docs" / "tables.md").read_text())
    assert len(names) > 10 and sorted(p.name for p in (tmp_path / "schemas").iterdir()) == sorted(f"{n}.schema.json" for n in names)
    for name in names:
        link = f"schemas/{name}.schema.json"
        assert page.split(f"### {name}: ")[1].split("\n\n")[1] == f"[JSON Schema]({link})"
        assert json.loads((tmp_path / link).read_text()) == json.loads(site.said("schema", name))


def test_a_document_that_no_page_describes_is_an_error(site):
    with pytest.raises(SystemExit, match="has no document `doctor`"):
        site.with_schemas("# Formats\n")
