"""What is submitted, and when: templates, mixes of workloads, arrivals."""
