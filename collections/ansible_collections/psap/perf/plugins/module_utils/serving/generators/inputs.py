"""Where the data set or trace of a load is: a file, an object of an S3 store, or a file in a claim."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from ansible_collections.psap.perf.plugins.module_utils.base.errors import DataQualityError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.exporting.places import Access, Place
from ansible_collections.psap.perf.plugins.module_utils.exporting.store import Store
from ansible_collections.psap.perf.plugins.module_utils.serving.generators.contract import Load

S3, PVC = "s3", "pvc"


@dataclass(frozen=True, slots=True)
class Location:
    """A file: *scheme* is empty for a path, and *root* is the bucket or the claim otherwise."""

    scheme: str
    root: str
    path: str

    @classmethod
    def parse(cls, text: str) -> Location:
        """Return the location that *text* names.

        Raises:
            UsageError: If it is neither a path, s3://BUCKET/KEY nor pvc://CLAIM/PATH.
        """
        if "://" not in text:
            return cls("", "", text)
        parts = urlsplit(text)
        path = parts.path.strip("/")
        if parts.scheme not in (S3, PVC) or not parts.netloc or not path or ".." in PurePosixPath(path).parts:
            raise UsageError(f"{text!r} is no data set or trace; write a path, s3://BUCKET/KEY or pvc://CLAIM/PATH")
        return cls(parts.scheme, parts.netloc, path)


def check_location(text: str, *, in_job: bool) -> None:
    """Refuse a data set or trace that the load cannot read.

    Args:
        in_job: Whether a Job runs the generator.

    Raises:
        UsageError: With what to do instead.
    """
    scheme = Location.parse(text).scheme
    if scheme == S3 and in_job:
        raise UsageError(
            f"a Job does not read {text}: download it to a claim with the command storage download-to-pvc, and write "
            "pvc://CLAIM/PATH"
        )
    if scheme == PVC and not in_job:
        raise UsageError(f"only a Job reads {text}: set the image of the load generator, or write a path or s3://")


def in_job(load: Load, data_claim: str) -> tuple[Load, str]:
    """Return the load with paths in a claim instead of pvc://, and the name of the claim.

    Raises:
        UsageError: If the Job cannot read a file, or the files are in several claims.
    """
    data, trace = (_in_job(text) for text in (load.data_file, load.trace_file))
    claims = {claim for claim in (data_claim, data.root, trace.root) if claim}
    if len(claims) > 1:
        raise UsageError(f"a Job reads its data from one claim, not {', '.join(sorted(claims))}")
    return replace(load, data_file=data.path, trace_file=trace.path), next(iter(claims), "")


def _in_job(text: str) -> Location:
    check_location(text, in_job=True)
    return Location.parse(text)


def fetched(load: Load, access: Access, folder: Path) -> Load:
    """Return the load with files of *folder* instead of objects of an S3 store, after fetching them.

    Raises:
        UsageError: If this machine cannot read a file, or an object does not exist.
    """
    data, trace = (_fetched(text, access, folder) for text in (load.data_file, load.trace_file))
    return replace(load, data_file=data, trace_file=trace)


def _fetched(text: str, access: Access, folder: Path) -> str:
    check_location(text, in_job=False)
    location = Location.parse(text)
    if not location.scheme:
        return text
    target = folder / PurePosixPath(location.path).name
    _fetch(access, location, target)
    return str(target)


def _fetch(access: Access, location: Location, target: Path) -> None:
    place = Place.parse(f"{S3}://{location.root}")
    with Store(access, place.bucket) as store:
        found = store.get(location.path, target)
        if found is None:
            raise UsageError(f"s3://{location.root}/{location.path} does not exist; correct data_file or trace_file")
        sent = store.digest(location.path)
        if sent and sent != found:
            raise DataQualityError(f"s3://{location.root}/{location.path} was damaged on its way; repeat the command")
