"""Lists of Kubernetes objects, as `kubectl get … -o json` prints them, as tables of pods, jobs and nodes."""
