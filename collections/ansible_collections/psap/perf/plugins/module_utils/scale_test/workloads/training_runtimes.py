"""The runtimes of TrainJobs: a TrainJob has no pod template, but names a TrainingRuntime that has one.

The template of a TrainJob renders the spec of its runtime as ``runtime``. TrainJobs with the same runtime share one
object, whose name is derived from its content.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.labels import INDEX, WORKLOAD, Submission
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.manifests import Manifest, pod_templates

KIND = "TrainingRuntime"
_INLINE = "runtime"


def detached(manifest: Manifest, submission: Submission) -> tuple[Manifest, Manifest | None]:
    """Return *manifest*; if it is a TrainJob, with the name of its runtime, and the runtime."""
    if manifest["kind"] != "TrainJob" or _INLINE not in manifest:
        return manifest, None
    job = {key: value for key, value in manifest.items() if key != _INLINE}
    spec: Any = manifest[_INLINE]
    for template in pod_templates(manifest):
        # Kubeflow Trainer copies the labels of the runtime, so that they cannot name a TrainJob; JobSet's labels do
        template["metadata"]["labels"] = {
            key: value for key, value in template["metadata"]["labels"].items() if key not in (WORKLOAD, INDEX)
        }
    text = json.dumps(spec, sort_keys=True)
    name = f"{submission.identity}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"
    job["spec"] = {**job["spec"], "runtimeRef": {**job["spec"]["runtimeRef"], "kind": KIND, "name": name}}
    metadata = {"name": name, "namespace": manifest["metadata"]["namespace"], "labels": dict(submission.common_labels)}
    return job, {"apiVersion": manifest["apiVersion"], "kind": KIND, "metadata": metadata, "spec": spec}
