"""The scale test: submit many workloads, record what becomes of each, account for all of them."""
