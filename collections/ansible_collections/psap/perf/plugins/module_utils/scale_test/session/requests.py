"""The requests of the verbs: a submission with its recording, or a recording alone; and the final judgement."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.base.clock import seconds_text
from ansible_collections.psap.perf.plugins.module_utils.base.documents import dump_yaml, write_text
from ansible_collections.psap.perf.plugins.module_utils.base.errors import (
    DataQualityError,
    Interrupted,
    PerfError,
    UsageError,
)
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.endpoint import ApiEndpoint
from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.labels import LAB_DURATION, Submission
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.api import ApiClient
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.kinds import ResourceKind, discover
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.files import RecordingFiles
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.lifecycles import (
    Lifecycle,
    lifecycle_of,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.own_lifecycles import read_lifecycles
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.recorder import Scope
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.related_objects import discover_related
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.clusters import WorkerClusters
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.device_supply import require_claims
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.grouping import (
    UNGROUPED,
    Grouping,
    grouping_of,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.load import Load
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.session import (
    STOP,
    TIMEOUT,
    Session,
    SessionEnd,
    SessionPlan,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.starters import PODS, submitter_starter
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.surroundings import (
    Surroundings,
    make_namespaces,
    read_surroundings,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitters.gathering import (
    GatheredSubmission,
    SubmitterStarter,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.churn import ChurnedSubmission
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.claim_templates import (
    DEVICE_CLAIMS,
    check_accepted,
    claim_templates,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.priorities import (
    check_priorities,
    class_name,
    priority_classes,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.queues import check_queues, check_quotas
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.runtimes import runtimes
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.submitting import (
    OwnSubmission,
    SubmissionToBegin,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads import topology
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.arrivals import ArrivalSettings
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.assortment import (
    AssortedWorkloads,
    Assortment,
    Variant,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.device_claims import (
    check_device_claims,
    needs_admin_access,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.inputs import (
    MOST_WORKLOADS,
    check_claim_size,
    check_namespace,
    check_ranges,
    naming,
    positive_seconds,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.templates import (
    WorkloadPlan,
    Workloads,
    template_of,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.trace import Trace

Interruption = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Place:
    """The ID of the run, the command's directory below the run, and the folders of its files."""

    run: str
    directory: str
    source: Path
    artifacts: Path


@dataclass(frozen=True, slots=True)
class SubmitRequest:
    """A submission: a load, and the files that its arguments name."""

    place: Place
    template: Path
    load: Load
    trace: Trace | None = None
    lifecycles: Mapping[str, Lifecycle] = field(init=False)
    arrivals: ArrivalSettings = field(init=False)
    assortment: Assortment = field(init=False)

    def __post_init__(self) -> None:
        """Raise UsageError if an argument is out of its range, or contradicts another."""
        load = self.load
        check_ranges(load)
        with naming("timeout"):
            positive_seconds(load.timeout)
        with naming("pvc_size"):
            check_claim_size(load.pvc_size)
        tenants = load.all_tenants()
        check_queues(tenants)
        check_priorities(load.priorities)
        with naming("topology"):
            topology.check_labels(load.topology_labels, load.topology_level)
        with naming("claims"):
            check_device_claims(load.claims)
        with naming("multikueue_clusters"):
            load.check_clusters()
        with naming("namespace"):
            for namespace in (load.namespace, *(tenant.namespace for tenant in tenants)):
                check_namespace(namespace)
        with naming("lifecycles"):
            object.__setattr__(self, "lifecycles", read_lifecycles(load.lifecycles))
        object.__setattr__(self, "arrivals", load.arrivals(self.trace))
        object.__setattr__(self, "assortment", load.assortment(self.trace))
        if self.total > MOST_WORKLOADS:
            raise UsageError(
                f"churn_rounds is {load.churn_rounds}: with those that are replaced {self.total} workloads are "
                f"submitted, which must be at most {MOST_WORKLOADS}"
            )
        if load.connections == 0 and load.batch_delay:
            raise UsageError("batch_delay needs connections: a batch is as many workloads as there are connections")
        if 0 < load.connections < load.submitters:
            raise UsageError(
                f"{load.submitters} submitters share {load.connections} connections; each needs at least one"
            )
        if load.submitters_as == PODS:
            with naming("submitters_ready_timeout"):
                positive_seconds(load.submitters_ready_timeout)
        if load.churn_percent and self.trace is not None:
            raise UsageError("churn adds workloads that a trace does not have; pass one of them only")

    @property
    def total(self) -> int:
        """Return the number of submitted workloads, with those of the rounds of churn."""
        return self.load.churn.total(self.load.count)

    def workloads(
        self,
        *,
        lab: bool,
        openshift: bool,
        grouping: Grouping = UNGROUPED,
        gpus_as_devices: bool = False,
        interrupted: Interruption = lambda: False,
    ) -> AssortedWorkloads:
        """Return the workloads for this kind of cluster; write the first to the command's source folder.

        Args:
            grouping: How the pods of a workload belong together on the cluster.
            gpus_as_devices: Whether pods have to claim their GPUs.

        Raises:
            UsageError: If a template is invalid.
            Interrupted: If the user interrupts the run while the templates of the variants are rendered.
        """
        submission = Submission.of(self.place.run, self.place.directory)

        def make(variant: Variant) -> Workloads:
            if interrupted():
                raise Interrupted("interrupted: the run was asked to stop")
            plan = self._plan(variant, submission, lab=lab, openshift=openshift)
            own = replace(
                plan,
                pod_groups=grouping.pod_groups,
                placement=grouping.placement,
                claims_gpus=gpus_as_devices,
            )
            return Workloads(own, submission)

        workloads = AssortedWorkloads(self.assortment, self.total, make)
        write_text(self.place.source / "workload-00000.yml", dump_yaml(workloads.manifest(0)))
        for number, each in enumerate((*workloads.claim_templates, *workloads.at(0).companions(0))):
            write_text(self.place.source / f"{each['kind'].lower()}-{number:05d}.yml", dump_yaml(each))
        return workloads

    def check_templates(self) -> None:
        """Render a workload of each kind, with each combination of a queue and a priority that occurs.

        Raises:
            UsageError: If a template is invalid.
        """
        submission = Submission.of(self.place.run, self.place.directory)
        variants = {
            (variant.kind, bool(variant.queue), bool(variant.priority)): variant
            for variant in self.assortment.distinct(self.total)
        }
        for variant in variants.values():
            Workloads(self._plan(variant, submission, lab=False, openshift=False), submission)

    def _plan(self, variant: Variant, submission: Submission, *, lab: bool, openshift: bool) -> WorkloadPlan:
        template = self.template
        if variant.kind is not None:
            # the templates of all kinds are in one folder, both shipped ones and a user's
            template = template.parent / template_of(variant.kind)
        try:
            source = template.read_text(encoding="utf-8")
        except OSError as error:
            raise UsageError(f"the template {template} cannot be read: {error.strerror}") from error
        duration = seconds_text(self.load.duration if variant.duration_s is None else variant.duration_s)
        common = {**self.load.variables, "pods": self.load.pods, "duration_s": duration, "openshift": openshift}
        priority = self.assortment.priority(variant.priority)
        own = {
            "gpus": variant.gpus,
            "queue": variant.queue or None,
            "priority_class": class_name(submission, priority.name) if priority else "",
        }
        return WorkloadPlan(
            source=source,
            origin=str(template),
            namespace=variant.namespace,
            pods=self.load.pods,
            variables={**common, **{name: value for name, value in own.items() if value is not None}},
            patch=self.load.patch,
            # simulated pods do not sleep: the annotation has the duration for the lab
            pod_annotations={LAB_DURATION: f"{duration}s"} if lab else {},
            folder=template.parent,
            priority=priority.value if priority else None,
            scheduler_name=self.load.scheduler_name,
            claims=[claim.plan() for claim in self.load.claims],
        )


async def submit(endpoint: ApiEndpoint, request: SubmitRequest, interrupted: Interruption) -> SessionEnd:
    """Submit and record until every workload has ended, the time is up, or the user interrupts the run.

    Raises:
        PerfError: If the cluster or the disk fails.
    """
    load = request.load
    arrivals = request.arrivals.arrivals(load.count, load.connections)
    async with ApiClient(endpoint) as client:
        surroundings = await read_surroundings(client)
        grouping = await grouping_of(client, load, surroundings)
        on_lab = surroundings.lab is not None
        workloads = request.workloads(
            lab=on_lab,
            openshift=surroundings.openshift,
            grouping=grouping,
            gpus_as_devices=surroundings.gpus_as_devices,
            interrupted=interrupted,
        )
        grouping.check(workloads.kinds, lab=on_lab)
        resources = [await discover(client, api_version, kind) for api_version, kind in workloads.kinds]
        if load.claims:
            await require_claims(client)
        if surroundings.gpus_as_devices:
            check_quotas(request.assortment.tenants)
        clusters = WorkerClusters.of(load, endpoint)
        clusters.check(workloads)
        await make_namespaces(
            client,
            request.assortment.namespaces,
            workloads.kinds,
            lab=on_lab,
            admin_access=needs_admin_access(load.claims),
        )
        related = await discover_related(client, [resource.kind for resource in resources])
        plan = replace(_session_plan(request, workloads, resources, surroundings), related=related)
        # submitter pods get rights for these kinds only
        shared = [DEVICE_CLAIMS] if any(claim.shared for claim in load.claims) else []
        created = [*resources, *shared, *([grouping.groups] if grouping.groups else [])]
        by_kind = {(resource.api_version, resource.kind): resource for resource in created}
        own = OwnSubmission(workloads, by_kind, load.count, load.connections, arrivals)
        files = RecordingFiles(request.place.artifacts)
        first = request.assortment.namespaces[0]
        levels = topology.complete(plan.levels, grouping.placement)
        async with (
            submitter_starter(endpoint, own, load, surroundings, interrupted) as starter,
            priority_classes(client, workloads.submission, first, request.assortment.priorities),
            clusters.queues(client, workloads, request.assortment, resources, levels, interrupted),
            claim_templates(client, workloads.claim_templates),
            runtimes(client, workloads.every, resources),
        ):
            await grouping.check_accepted(client, workloads.every)
            if load.claims or surroundings.gpus_as_devices:
                for each in workloads.of_each_kind:
                    await check_accepted(client, each, by_kind[each.api_version, each.kind])
            submission = _submission(own, starter, request, files)
            return await Session(client, plan, files, surroundings, interrupted, submission).run()


def _session_plan(
    request: SubmitRequest, workloads: AssortedWorkloads, resources: Sequence[ResourceKind], surroundings: Surroundings
) -> SessionPlan:
    selector = workloads.submission.selector
    namespaces = request.assortment.namespaces
    return SessionPlan(
        run=request.place.run,
        scopes=tuple(
            Scope(namespace, resource, lifecycle_of(resource.kind, request.lifecycles), selector)
            for namespace in namespaces
            for resource in resources
        ),
        planned=request.total,
        timeout_s=request.load.timeout,
        until=None,
        metrics=request.load.metrics.plan(surroundings.metrics_endpoints),
        levels=request.load.levels(surroundings.topology),
        client={
            "connections": request.load.connections,
            "submitters": request.load.submitters,
            **request.arrivals.document(),
            **request.load.churn.document(),
        },
    )


def _submission(
    own: OwnSubmission, starter: SubmitterStarter | None, request: SubmitRequest, files: RecordingFiles
) -> SubmissionToBegin:
    """Return the submission, by this process or those that *starter* starts, with its rounds of churn."""
    submission: SubmissionToBegin = own
    if starter is not None:
        submission = GatheredSubmission(own, request.load.submitters, request.place.artifacts / "submitters", starter)
    if request.load.churn.percent:
        submission = ChurnedSubmission(submission, own, request.load.churn, files.churn)
    return submission


def judge(end: SessionEnd, *, max_failed: int | None, timeout_s: float) -> None:
    """Raise the error of the command, if it has one; the files are complete in every case.

    Args:
        max_failed: Number of workloads that may fail; None for any.

    Raises:
        Interrupted: If the user interrupted the run.
        DataQualityError: If workloads were lost, or the accounts do not agree.
        PerfError: If the time was up, or more workloads failed than allowed.
    """
    accounting = end.accounting
    sentence = accounting.sentence()
    if end.ended_by == STOP:
        raise Interrupted(f"interrupted: {sentence}")
    if end.failure is not None:
        untrue = accounting.lost or not accounting.identity_holds
        raise (DataQualityError if untrue else PerfError)(f"{end.failure}; {sentence}")
    if not accounting.identity_holds:
        raise DataQualityError(f"the accounts do not agree: {'; '.join(accounting.discrepancies)}; {sentence}")
    if accounting.lost:
        raise DataQualityError(f"workloads were lost: {sentence}; see the times in transitions.jsonl")
    if end.ended_by == TIMEOUT:
        raise PerfError(
            f"not finished after {timeout_s:g} s: {sentence}; {accounting.advice()}; raise the timeout if they "
            "only need longer"
        )
    if max_failed is not None and accounting.failed > max_failed:
        allowed = f"at most {max_failed} may" if max_failed else "none may"
        raise PerfError(
            f"{accounting.failed} of {accounting.submitted} workloads failed, {allowed}: {sentence}; "
            f"{accounting.advice()}"
        )
