module psap.perf/compiled_client

go 1.24
