"""What the scale-test-tool of Run:ai left behind: its working directory and its times.csv, read and written."""
