"""Prow, as OpenShift CI runs it: the job is in JOB_SPEC; steps have a pod, and a folder of artifacts, each."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perfdrv.errors import UsageError

from perfci.github import PullRequest
from perfci.jobs.job import Job, Kind, Link, folders, grace_of, kind_of

_PAGES = "https://prow.ci.openshift.org/view/gs"
_FILES = "https://gcsweb-ci.apps.ci.l2s4.p1.openshiftapps.com/gcs"
_REHEARSAL = re.compile(r"rehearse-\d+-")
_KINDS: Mapping[str, Kind] = {"presubmit": "presubmit", "batch": "presubmit", "postsubmit": "postsubmit"}
# SHARED_DIR is a Secret of Kubernetes: at most 1 MiB with names, in base64
_SHARED_BYTES = 700_000
# Prow's default; jobs of OpenShift CI often have minutes
_GRACE = 15.0


class Prow:
    """Prow, with the environment that its package downwardapi documents."""

    name = "prow"

    def is_here(self, environment: Mapping[str, str]) -> bool:
        """Return whether JOB_SPEC is set."""
        return bool(environment.get("JOB_SPEC"))

    def job(self, environment: Mapping[str, str]) -> Job:
        """Return the job in JOB_SPEC."""
        spec = _Spec.read(environment["JOB_SPEC"])
        artifacts, shared = folders(environment, Path(environment.get("ARTIFACTS") or "/logs/artifacts"))
        place = spec.place
        return Job(
            system=self.name,
            kind=kind_of(environment, spec.kind),
            name=spec.job,
            test=environment.get("TEST_NAME") or spec.test,
            repository=spec.repository,
            build=spec.build,
            url=f"{_PAGES}/{place}" if place else "",
            artifacts=artifacts,
            artifacts_url=f"{_FILES}/{place}/artifacts/{_folder_of_step(environment)}" if place else "",
            shared=shared,
            shared_limit=_SHARED_BYTES,
            grace=grace_of(environment, _GRACE),
            pull=spec.pull,
        )

    def show(self, job: Job, links: tuple[Link, ...], summary: str, environment: Mapping[str, str]) -> None:  # noqa: ARG002
        """Write each link to a file, which the page of the job lists by its name."""
        for former in job.artifacts.glob("custom-link-*.txt"):
            former.unlink()
        for number, link in enumerate((each for each in links if each.target.startswith("https://")), 1):
            name = re.sub(r"[^a-z0-9]+", "-", link.title.lower()).strip("-") or str(number)
            (job.artifacts / f"custom-link-{name}.txt").write_text(f"{link.target}\n", encoding="utf-8")


@dataclass(frozen=True, slots=True)
class _Spec:
    """The fields of JOB_SPEC that are read."""

    type: str
    job: str
    build: str
    refs: Mapping[str, Any]
    tested: Mapping[str, Any]
    bucket: str
    default_repository: tuple[str, str]

    @classmethod
    def read(cls, text: str) -> _Spec:
        try:
            document = json.loads(text)
            extra = document.get("extra_refs") or [{}]
            refs = document.get("refs") or {}
            storage = (document.get("decoration_config") or {}).get("gcs_configuration") or {}
            job = str(document["job"])
            return cls(
                type=str(document["type"]),
                job=job,
                build=str(document["buildid"]),
                refs=dict(refs),
                # the refs of a rehearsal are those of the repository with the jobs
                tested=dict(extra[0] if _REHEARSAL.match(job) or not refs else refs),
                bucket=str(storage.get("bucket", "")),
                default_repository=(str(storage.get("default_org", "")), str(storage.get("default_repo", ""))),
            )
        except (ValueError, TypeError, KeyError, AttributeError, IndexError) as error:
            what = f"{type(error).__name__}: {error}"
            raise UsageError(f"JOB_SPEC is not what Prow documents ({what}): unset it outside Prow") from error

    @property
    def kind(self) -> Kind:
        if _REHEARSAL.match(self.job):
            return "rehearsal"
        return _KINDS.get(self.type, "periodic")

    @property
    def repository(self) -> str:
        return _full_name(self.tested)

    @property
    def pull(self) -> PullRequest | None:
        """The tested pull request; None for a batch, which has several."""
        pulls = self.refs.get("pulls") or []
        if len(pulls) != 1 or self.type == "batch":
            return None
        repository, number = _full_name(self.refs), int(pulls[0]["number"])
        link = str(pulls[0].get("link") or f"https://github.com/{repository}/pull/{number}")
        return PullRequest(repository, number, str(pulls[0].get("author", "")), link)

    @property
    def test(self) -> str:
        """The name without the prefix of ci-operator: kind, repository and branch."""
        name = _REHEARSAL.sub("", self.job)
        of = "-".join(str(self.tested.get(key, "")) for key in ("org", "repo", "base_ref"))
        prefixes = (f"{word}-ci-{of}-" for word in ("pull", "branch", "periodic"))
        return next((name.removeprefix(prefix) for prefix in prefixes if name.startswith(prefix)), name)

    @property
    def place(self) -> str:
        """The folder of the build in Prow's storage; empty without a bucket."""
        if not self.bucket:
            return ""
        if self.type in ("periodic", "postsubmit"):
            return f"{self.bucket}/logs/{self.job}/{self.build}"
        if self.type == "batch":
            return f"{self.bucket}/pr-logs/pull/batch/{self.job}/{self.build}"
        organization, repository = str(self.refs.get("org", "")), str(self.refs.get("repo", ""))
        folder = "" if (organization, repository) == self.default_repository else f"/{organization}_{repository}"
        number = (self.refs.get("pulls") or [{}])[0].get("number", "")
        return f"{self.bucket}/pr-logs/pull{folder}/{number}/{self.job}/{self.build}"


def _folder_of_step(environment: Mapping[str, str]) -> str:
    """Return ci-operator's folder for the artifacts of a step: the test, then the rest of the pod's name."""
    test, pod = environment.get("JOB_NAME_SAFE", ""), environment.get("HOSTNAME", "")
    return f"{test}/{pod.removeprefix(f'{test}-')}/artifacts/" if test and pod.startswith(f"{test}-") else ""


def _full_name(refs: Mapping[str, Any]) -> str:
    return f"{refs['org']}/{refs['repo']}" if refs.get("org") and refs.get("repo") else ""
