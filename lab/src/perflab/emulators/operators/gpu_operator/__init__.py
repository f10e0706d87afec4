"""The functions of the GPU operator, which `product.yaml` describes."""
