"""Scale tests: workloads submitted to a cluster, watched from creation to completion."""
