"""One call of ansible-playbook: the request, the worker process, the result."""
