"""Fill a cluster with numbered copies of objects, and count them."""
