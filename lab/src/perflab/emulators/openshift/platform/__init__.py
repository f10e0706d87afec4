"""OpenShift itself, described by `product.yaml`."""
