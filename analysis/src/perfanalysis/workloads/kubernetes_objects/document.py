"""The document that makes a directory with lists of Kubernetes objects a recording."""

from __future__ import annotations

MARKER, KIND = "kubernetes_objects.json", "kubernetes-objects"
SCHEMA = "psap.perf/kubernetes-objects/1"
