"""OpenShift: its API and OAuth server, OpenShift Cluster Manager, openshift-install, and entitlements."""
