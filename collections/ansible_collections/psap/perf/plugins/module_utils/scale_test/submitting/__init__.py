"""One submitting process: workloads, and the objects that are created for them."""
