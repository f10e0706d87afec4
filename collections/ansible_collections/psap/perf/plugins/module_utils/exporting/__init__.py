"""Export run directories to an S3 store; check, fetch and verify exports."""
