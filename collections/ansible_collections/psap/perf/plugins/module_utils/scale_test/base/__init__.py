"""Points in time, journals and labels of a recording."""
