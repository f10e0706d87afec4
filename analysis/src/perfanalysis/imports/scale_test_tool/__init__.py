"""Files of Run:ai's scale-test-tool: its working directory and its times.csv, read and written."""
