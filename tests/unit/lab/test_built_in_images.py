"""The images that a lab writes itself, from a cache with pretended packages: no download, no build."""

from __future__ import annotations

import dataclasses
import shutil
import stat
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from perflab.errors import ClusterError, UsageError
from perflab.worker import built_in, compiling, debian, images, project
from perflab.worker.built_in import BUILT_IN, Parts
from perflab.worker.requirements import find

REDIS = ("redis-tools", "redis-server", "libatomic1", "libjemalloc2", "liblzf1")


def ignore(_text: str) -> None:
    pass


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """A cache with the packages of Redis: a program, a link to it in another package, and a library."""
    for package in REDIS:
        (tmp_path / "debian" / package / "usr/bin").mkdir(parents=True)
    program = tmp_path / "debian/redis-tools/usr/bin/redis-check-rdb"
    shutil.copy(find("true") or "", program)
    program.chmod(0o755)
    (tmp_path / "debian/redis-server/usr/bin/redis-server").symlink_to("redis-check-rdb")
    return tmp_path


def test_image_of_packages_has_their_programs_and_links(cache: Path) -> None:
    image = BUILT_IN["redis"].make(Parts(cache, ignore))
    assert image.files["/usr/bin/redis-check-rdb"] == cache / "debian/redis-tools/usr/bin/redis-check-rdb"
    assert image.links["/usr/bin/redis-server"] == "redis-check-rdb"
    assert {"/usr/bin/sh", "/usr/bin/cat"} < set(image.files)
    assert any(path.endswith("/libc.so.6") for path in image.files)


def test_two_builds_of_an_image_of_packages_are_equal(cache: Path, tmp_path: Path) -> None:
    image = BUILT_IN["redis"].make(Parts(cache, ignore))
    first = built_in.ensure(cache, "redis", ignore)
    second = images.ensure(tmp_path / "second", image)
    assert first.name == second.name
    assert first.read_bytes() == second.read_bytes()


def test_table_has_the_name_of_the_image_that_is_made(cache: Path) -> None:
    for name in ("redis", "python"):
        assert BUILT_IN[name].make(Parts(cache, ignore)).name == BUILT_IN[name].image
        assert BUILT_IN[name].image.startswith(f"localhost/perflab/{name}:")


def test_text_that_is_a_program_is_executable(tmp_path: Path) -> None:
    image = images.Image("localhost/perflab/tool:1", texts={"/bin/tool": "#!/bin/sh\n", "/etc/tool": "text\n"})
    with tarfile.open(images.ensure(tmp_path, image)) as archive:
        names = [name for name in archive.getnames() if name.startswith("blobs/")]
        layer = archive.extractfile(names[-1])
        with tarfile.open(fileobj=layer) as opened:
            modes = {each.name: stat.S_IMODE(each.mode) for each in opened if each.isfile()}
    assert modes == {"bin/tool": 0o755, "etc/tool": 0o644}


COMPILE = """
import pathlib, sys
from perflab.worker import compiling
noise = [f"name_{number}" for number in range(int(sys.argv[1]))]
module = pathlib.Path(compiling.__file__)
sys.stdout.buffer.write(compiling.compiled("/lib/module.py", module.read_bytes()))
"""


def test_two_processes_compile_a_module_to_the_same_bytes(tmp_path: Path) -> None:
    first, second = (
        subprocess.run([sys.executable, "-c", COMPILE, noise], capture_output=True, check=True).stdout
        for noise in ("1", "1000")
    )
    assert first == second
    # Python uses it without the source
    place = tmp_path / "module.pyc"
    place.write_bytes(first)
    program = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import module; print(module.is_module('a.py'))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


def test_compiled_image_has_compiled_modules_next_to_their_sources(tmp_path: Path) -> None:
    good, template = tmp_path / "good.py", tmp_path / "template.py"
    good.write_text("NUMBER = 1\n")
    template.write_text("NUMBER = {{ number }} {% if %}\n")
    files = {"/lib/good.py": good, "/lib/template.py": template}
    image = images.Image("localhost/perflab/tool:1", files=files, compiled=True)
    assert image.digest() != dataclasses.replace(image, compiled=False).digest()
    with tarfile.open(images.ensure(tmp_path, image)) as archive:
        layer = archive.extractfile(archive.getnames()[-1])
        with tarfile.open(fileobj=layer) as opened:
            names = [each.name for each in opened if each.isfile()]
    assert names == ["lib/good.py", "lib/template.py", compiling.path("lib/good.py")]


@pytest.mark.parametrize(
    ("file", "needed"),
    [
        ("pandas/core/frame.py", True),
        ("pandas/tests/test_frame.py", False),
        ("pandas/_testing/__init__.py", True),
        ("pyarrow/include/arrow/api.h", False),
        ("ansible/plugins/test/core.py", True),
        ("../../../bin/perfdrv", False),
    ],
)
def test_files_of_packages_in_the_project_image(file: str, needed: bool) -> None:
    assert project.is_needed(file, bundle=False, own=False) is needed


def test_image_of_the_project_keeps_links_to_folders() -> None:
    image = project.image("localhost/project:1")
    assert image.links[f"{project.PLACE}/playbooks/group_vars"] == "../group_vars"
    assert f"{project.PLACE}/group_vars/all/clusters.yml" in image.files


def test_unknown_name_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="'mysql' is neither a file nor an image of the lab; its images are python, "):
        built_in.ensure(tmp_path, "mysql", ignore)


def test_package_that_cannot_be_had_is_one_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("apt-get", "dpkg-deb"):
        (programs / name).write_text(
            "#!/bin/sh\necho 'W: slow' >&2; echo 'E: Unable to locate package' $3 >&2; exit 100\n"
        )
        (programs / name).chmod(0o755)
    monkeypatch.setattr(debian, "find", lambda name: str(programs / name))
    with pytest.raises(ClusterError, match="package mine: apt-get: Unable to locate package mine"):
        debian.unpacked(tmp_path, ["mine"], lines.append)
    assert lines == ["downloading Debian's package mine"]
    # nothing of the attempt is left
    assert [path.name for path in (tmp_path / "debian").iterdir()] == ["lock"]
    monkeypatch.setattr(debian, "find", lambda _name: None)
    with pytest.raises(ClusterError, match="this machine does not have apt-get, dpkg-deb"):
        debian.unpacked(tmp_path, ["mine"], ignore)
