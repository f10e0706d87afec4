"""One submitting process: workloads, and what is created beside them."""
