"""Arguments of a job from its pull request: from the description, and from the comment that asks for the test."""
