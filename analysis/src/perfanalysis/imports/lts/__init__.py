"""LTS payloads of MatrixBenchmarking: what its workloads export for long-term storage."""
