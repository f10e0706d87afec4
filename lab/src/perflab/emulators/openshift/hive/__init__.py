"""Hive: pools of clusters, claims and deployments; see `product.yaml`."""
