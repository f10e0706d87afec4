"""A real node of a lab: kubelet, kube-proxy, containerd and CoreDNS in namespaces of one process tree."""
