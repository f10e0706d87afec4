"""What only an OpenShift has: its certificates, pull secret, projects, operators' catalogs."""
