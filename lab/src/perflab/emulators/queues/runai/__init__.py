"""Run:ai, described by `product.yaml`."""
