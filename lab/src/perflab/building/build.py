"""Builds the lab's programs into the user's cache: a set appears completely or not at all."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from perflab.building import definitions
from perflab.building.component import Component
from perflab.building.components import COMPONENTS, lock_hash, sets_for, versions
from perflab.building.envoy import ensure_envoy
from perflab.building.golang import Go
from perflab.building.sets import DEFINITIONS_FOLDER, Binaries, ensure_set, find_set, whole_set
from perflab.building.toolchain import find_go
from perflab.errors import ClusterError, PrintLine
from perflab.profiles import ENVOY, running

# measured on a build with empty caches: programs and CRDs, Go's build cache, sources
NEEDED_BYTES = {"binaries": 0.5e9, "GOCACHE": 3.5e9, "GOMODCACHE": 1.5e9}


def find_binaries(cache: Path, components: Sequence[Component] = COMPONENTS) -> Binaries | None:
    """Return the cached set for the pinned modules, or None if it is missing or damaged."""
    return find_set(cache / lock_hash(components))


def ensure_profile(cache: Path, print_line: PrintLine, profile: str, products: Iterable[str] = ()) -> Binaries:
    """Return the programs of a profile and of products, after building missing ones; raises as `ensure_binaries`."""
    sets = sets_for(profile, products)
    missing = [components for components in sets if find_binaries(cache, components) is None]
    if missing:
        _check_c_compiler([component for components in missing for component in components])
        print_line(_announcement([component for components in missing for component in components]))
    first, *further = (ensure_binaries(cache, print_line, components) for components in sets)
    if ENVOY in running(profile, products):
        further.append(ensure_envoy(cache, print_line))
    return Binaries(first.folder, tuple(each.folder for each in further))


def _check_c_compiler(components: Sequence[Component]) -> None:
    names = [component.name for component in components if component.cgo]
    if names and not shutil.which("gcc"):
        raise ClusterError(f"no C compiler to build {', '.join(names)}: apt install gcc libc6-dev")


def _announcement(components: Sequence[Component]) -> str:
    minutes = sum(component.cpu_s for component in components) / (os.cpu_count() or 1) / 60
    names = ", ".join(component.name for component in components)
    return f"building {names}: about {max(1, round(minutes))} min on idle CPUs with an empty Go cache"


def ensure_binaries(cache: Path, print_line: PrintLine, components: Sequence[Component] = COMPONENTS) -> Binaries:
    """Return the cached set, building it first if needed (minutes, with an empty Go cache).

    Raises ClusterError if there is no compiler or no disk space, or if a build fails.
    """
    return ensure_set(
        cache / lock_hash(components), print_line, lambda folder, print_line: _build(components, folder, print_line)
    )


def _build(components: Sequence[Component], folder: Path, print_line: PrintLine) -> Binaries:
    cache = folder.parent
    go = Go(find_go(cache, print_line))
    programs = _programs(components)
    if programs:
        # definitions alone need almost no space
        _check_room(go, cache)
    started = time.monotonic()
    with whole_set(folder, versions(components), go.version()) as partial:
        for number, component in enumerate(components, start=1):
            _build_component(go, component, partial, _numbered(print_line, number, len(components)))
    what = ", ".join(programs) or "the CustomResourceDefinitions"
    print_line(f"built {what} in {time.monotonic() - started:.0f} s ({folder})")
    return Binaries(folder)


def _programs(components: Sequence[Component]) -> list[str]:
    return [program for component in components for program, _ in component.programs]


def _numbered(print_line: PrintLine, number: int, total: int) -> PrintLine:
    return lambda text: print_line(f"[{number}/{total}] {text}")


def _build_component(go: Go, component: Component, partial: Path, print_line: PrintLine) -> None:
    if component.cgo:
        go = go.with_cgo()
    # a copy, because the package's own folder may be read-only and `go` wants to lock go.mod
    work = partial / "work" / component.name
    work.mkdir(parents=True)
    for path in component.sources():
        shutil.copyfile(path, work / path.name)
    if component.definitions:
        sources = go.download(work, component.module)
        for file, folder in component.definitions:
            definitions.take(sources / file, partial / DEFINITIONS_FOLDER / folder)
        print_line(f"{component.name} {component.version} taken")
    if component.symbolic_links or component.left_out:
        _adapt_module(go, component, work)
    if component.programs:
        _build_programs(go, component, work, partial, print_line)


def _adapt_module(go: Go, component: Component, work: Path) -> None:
    """Make the build use a copy of the module with its symbolic links, and without the files that are left out."""
    copy = work / "upstream"
    shutil.copytree(go.download(work, component.module), copy)
    _make_writable(copy)
    for link, target in component.symbolic_links:
        shutil.copyfile((copy / link).with_name(target), copy / link)
    for name in component.left_out:
        (copy / name).unlink()
    go.replace(work, component.module, copy)


def _build_programs(go: Go, component: Component, work: Path, partial: Path, print_line: PrintLine) -> None:
    names = ", ".join(program for program, _ in component.programs)
    started = time.monotonic()
    print_line(f"fetching the sources of {component.name} {component.version}")
    packages = go.fetch(work, [package for _, package in component.programs], component.tags)
    print_line(f"{names}: {packages} packages to compile, fewer with a filled Go cache")
    go.build(
        work,
        [package for _, package in component.programs],
        _target(component, partial / "bin"),
        component.linker_flags(),
        lambda progress: print_line(f"building {names} … {time.monotonic() - started:.0f} s{progress}"),
        component.tags,
    )
    for module, folder, name in component.all_copies:
        shutil.copytree(go.module_folder(work, module) / folder, partial / name)
        _make_writable(partial / name)
    print_line(f"{names} {component.version} built in {time.monotonic() - started:.0f} s")


def _target(component: Component, folder: Path) -> Path:
    # several programs are built together, into a folder, and named after their packages
    single = len(component.programs) == 1
    return folder / component.programs[0][0] if single else folder


def _make_writable(folder: Path) -> None:
    # Go's module cache is read-only, and so are copies of it by copytree
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)


def _check_room(go: Go, cache: Path) -> None:
    needs: dict[int, float] = {}
    places: dict[int, Path] = {}
    for what, folder in {"binaries": cache, **go.cache_folders()}.items():
        existing = next(path for path in (folder, *folder.parents) if path.exists())
        # folders on the same disk share its free space
        disk = existing.stat().st_dev
        needs[disk] = needs.get(disk, 0) + NEEDED_BYTES[what]
        places[disk] = existing
    for disk, needed in needs.items():
        free = shutil.disk_usage(places[disk]).free
        if free < needed:
            raise ClusterError(
                f"not enough disk space to build the lab: {free / 1e9:.1f} GB free on the disk of "
                f"{places[disk]}, {needed / 1e9:.1f} GB needed. Free some, or point XDG_CACHE_HOME, GOCACHE "
                "and GOMODCACHE to a larger disk."
            )
