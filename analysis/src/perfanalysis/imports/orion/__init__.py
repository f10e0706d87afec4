"""What orion reads and writes: JSON into a history, configs and acknowledgements as what `regress` judges by."""
