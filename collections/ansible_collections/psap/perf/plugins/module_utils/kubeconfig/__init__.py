"""The address and the credentials of a cluster, from kubeconfigs and the environment."""
