"""Arguments of a job from its pull request: its description, and the comment that requests the test."""
