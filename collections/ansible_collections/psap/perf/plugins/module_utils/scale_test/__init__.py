"""The scale test: submit many workloads, record their transitions, account for all of them."""
