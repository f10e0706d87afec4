"""The Leases of a cluster, by which only one run at a time changes it, and by which a user locks it."""
