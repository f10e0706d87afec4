"""Features of OpenShift: node certificates, the pull secret, projects, users, operators' catalogs."""
