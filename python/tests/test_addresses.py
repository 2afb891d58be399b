"""The owner fills in one file, and every page and package that is published names those addresses."""

import re
import shutil
import subprocess
import sys

import pytest

tomllib = pytest.importorskip("tomllib", reason="Python 3.11 or later reads TOML")

OWN = "https://example.com/owner/posemill"
FILES = ["Cargo.toml", "python/pyproject.toml", "mkdocs.yml", "install.sh", "blender/posemill_addon/blender_manifest.toml"]


@pytest.fixture
def copy(data, tmp_path):
    """A copy of the files that name addresses."""
    for path in [".ci/addresses", ".ci/addresses.toml", *FILES]:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(data.parent / path, tmp_path / path)
    return tmp_path


def run(copy, *arguments):
    command = [sys.executable, copy / ".ci" / "addresses", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def read(copy):
    return [(copy / path).read_text() for path in FILES]


def test_one_file_fills_in_all_others(copy):
    before = read(copy)
    file = copy / ".ci" / "addresses.toml"
    lines = {"repository": OWN, "homepage": "https://example.com", "documentation": "https://example.com/docs"}
    file.write_text("".join(f'{name} = "{url}"\n' for name, url in lines.items()))
    assert run(copy).returncode == 0
    cargo, package, site, installer, extension = read(copy)
    assert {k: tomllib.loads(cargo)["package"][k] for k in lines} == lines
    assert tomllib.loads(package)["project"]["urls"] == lines
    assert f"\nrepo_url: {OWN}\nsite_url: {lines['documentation']}\n" in site
    assert tomllib.loads(extension)["website"] == lines["homepage"]
    assert f'\nrepository="{OWN}"\n' in installer
    # Nothing else is changed, and a second run with others replaces them.
    for old, new in zip(before, read(copy), strict=True):
        assert set(old.splitlines()) - {'repository=""'} <= set(new.splitlines())
    file.write_text('repository = ""\nhomepage = ""\ndocumentation = ""\n')
    assert run(copy, "https://example.com/fork").returncode == 0
    cargo, package, site, _, _ = read(copy)
    assert tomllib.loads(package)["project"]["urls"]["homepage"] == "https://example.com/fork"
    assert "owner" not in cargo + package and "repo_url: https://example.com/fork\n" in site


def test_without_addresses_nothing_is_written(copy):
    before = read(copy)
    ended = run(copy)
    assert ended.returncode == 1 and "fill in .ci/addresses.toml" in ended.stderr
    ended = run(copy, "owner/posemill")
    assert ended.returncode == 1 and "is no address of a repository" in ended.stderr
    assert read(copy) == before


def test_binstall_finds_what_the_release_packs(data):
    """Names of archives and of the folder in them, for each target of the release workflow."""
    root = data.parent
    package = tomllib.loads((root / "Cargo.toml").read_text())["package"]
    release = (root / ".github" / "workflows" / "release.yml").read_text()
    targets = set(re.findall(r"\bname: ((?:x86_64|aarch64)-[\w-]+)", release))
    assert len(targets) == 5
    packed = re.search(r'folder="(posemill-[^"]+)"', release)[1]
    for target in targets:
        found = {**package["metadata"]["binstall"], **package["metadata"]["binstall"].get("overrides", {}).get(target, {})}
        words = {"repo": OWN, "version": "1.2.3", "name": package["name"], "target": target, "bin": "posemill", "binary-ext": ""}
        filled = {key: re.sub(r"\{ ([\w-]+) \}", lambda word: words[word[1]], found[key]) for key in ["pkg-url", "bin-dir"]}
        folder = packed.replace("${GITHUB_REF_NAME#v}", "1.2.3").replace("${{ matrix.name }}", target)
        end = {"tgz": "tar.gz", "zip": "zip"}[found["pkg-fmt"]]
        assert (end == "zip") == ("windows" in target)
        assert filled == {"pkg-url": f"{OWN}/releases/download/v1.2.3/{folder}.{end}", "bin-dir": f"{folder}/posemill"}
