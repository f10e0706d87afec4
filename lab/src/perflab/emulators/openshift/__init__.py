"""Emulators of OpenShift's own operators."""
