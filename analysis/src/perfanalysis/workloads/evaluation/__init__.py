"""The accuracy of a served model on a task."""
