"""OpenShift's MachineSets: which there are of an instance type, and how they come to a number of machines."""
