"""The engine: runs the products that are described by a `product.yaml` instead of a program; see docs/lab.md."""
