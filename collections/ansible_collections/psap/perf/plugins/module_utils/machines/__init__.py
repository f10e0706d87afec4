"""Scale the MachineSets of OpenShift by instance type."""
