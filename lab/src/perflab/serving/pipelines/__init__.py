"""The API of Data Science Pipelines, emulated: it turns pipelines into Workflows, which Argo Workflows itself runs.

REST of Kubeflow Pipelines v2beta1: pipelines with one version each, experiments, runs. A run is a Workflow with the
label `pipeline/runid` and the annotation `pipelines.kubeflow.org/run_name`; its state is the Workflow's, and it
ends with it. A task of a pipeline becomes a task of the Workflow that runs the container of its executor.

As on OpenShift, a request needs a bearer token of a user who may access the application's API.

Not emulated: drivers and launchers of tasks, results and artifacts of tasks, conditions, loops, nested pipelines,
caching, recurring runs, uploads of further versions, pages and filters of lists.
"""
