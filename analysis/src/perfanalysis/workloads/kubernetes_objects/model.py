"""The parts of Kubernetes objects that are looked at; all else is skipped while reading, and never becomes Python."""

from __future__ import annotations

from msgspec import Struct, field

Quantity = str | int | float
"""As resources have it: 8, "500m", "16Gi"."""


class Labels(Struct, gc=False):
    """The labels that name the job of a pod, or say what a node is."""

    kubeflow_job: str | None = field(default=None, name="training.kubeflow.org/job-name")
    batch_job: str | None = field(default=None, name="batch.kubernetes.io/job-name")
    old_batch_job: str | None = field(default=None, name="job-name")
    instance_type: str | None = field(default=None, name="node.kubernetes.io/instance-type")
    gpu_product: str | None = field(default=None, name="nvidia.com/gpu.product")

    @property
    def job(self) -> str | None:
        """The job that a pod is of."""
        return self.kubeflow_job or self.batch_job or self.old_batch_job


class Owner(Struct, gc=False):
    """What an object was made by."""

    name: str
    kind: str | None = None


class Metadata(Struct, gc=False, rename="camel"):
    """Names of an object, its owner, and when it was created."""

    name: str
    namespace: str | None = None
    creation_timestamp: str | None = None
    labels: Labels | None = None
    owner_references: list[Owner] | None = None

    @property
    def owner(self) -> str | None:
        """The name of the first owner."""
        return self.owner_references[0].name if self.owner_references else None


class Condition(Struct, gc=False, rename="camel"):
    """A condition of a status. AppWrappers stamp theirs to the microsecond, under another name."""

    type: str
    status: str | None = None
    reason: str | None = None
    last_transition_time: str | None = None
    last_transition_micro_time: str | None = None

    @property
    def moment(self) -> str | None:
        """When it became so."""
        return self.last_transition_micro_time or self.last_transition_time


class Running(Struct, gc=False, rename="camel"):
    """The state of a container that runs."""

    started_at: str | None = None


class Terminated(Struct, gc=False, rename="camel"):
    """The state of a container that ended."""

    started_at: str | None = None
    finished_at: str | None = None
    exit_code: int | None = None


class State(Struct, gc=False):
    """The state of a container: one of these, or neither while it waits."""

    running: Running | None = None
    terminated: Terminated | None = None


class ContainerStatus(Struct, gc=False, rename="camel"):
    """What became of a container."""

    state: State | None = None
    restart_count: int | None = None


class Resources(Struct, gc=False):
    """What a container may use."""

    limits: dict[str, Quantity] | None = None


class Container(Struct, gc=False):
    """A container of a pod."""

    resources: Resources | None = None


class Spec(Struct, gc=False, rename="camel"):
    """What an object is to be."""

    node_name: str | None = None
    containers: list[Container] | None = None


class Status(Struct, gc=False, rename="camel"):
    """What became of an object."""

    phase: str | None = None
    start_time: str | None = None
    completion_time: str | None = None
    conditions: list[Condition] | None = None
    container_statuses: list[ContainerStatus] | None = None
    allocatable: dict[str, Quantity] | None = None


class Item(Struct, gc=False):
    """An object of any kind."""

    metadata: Metadata
    kind: str | None = None
    spec: Spec | None = None
    status: Status | None = None


class ObjectList(Struct, gc=False):
    """A list, whose items may be left to be read one by one; without `items` it is an object itself."""

    items: list[Item] | None = None


MARKER, KIND = "kubernetes_objects.json", "kubernetes-objects"
SCHEMA = "psap.perf/kubernetes-objects/1"
