"""Users that act concurrently, each in a pod."""
