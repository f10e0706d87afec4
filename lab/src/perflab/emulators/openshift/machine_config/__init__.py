"""OpenShift's Machine Config Operator: pools of nodes and their configuration; see `product.yaml`."""
