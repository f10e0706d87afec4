"""The kubelet endpoint of the simulated nodes: container logs and port-forwards."""
