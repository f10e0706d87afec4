"""The workloads and their times: templates, mixes of workloads, arrivals."""
