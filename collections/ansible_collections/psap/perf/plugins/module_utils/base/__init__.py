"""What every other room stands on: errors, documents, points in time, names, processes."""
