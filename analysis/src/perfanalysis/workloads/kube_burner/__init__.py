"""A job of kube-burner, by the documents of its local folder."""
