"""The NFD operator's resources and names."""

from __future__ import annotations

from perflab.emulators.framework.resources import Resource

DISCOVERIES = Resource("nfd.openshift.io", "v1", "nodefeaturediscoveries", "NodeFeatureDiscovery")
WORKER, MASTER, COLLECTOR = "nfd-worker", "nfd-master", "nfd-gc"
# the label `app` of what the operator makes
APP = "app"
