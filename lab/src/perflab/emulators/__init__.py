"""Controllers that a lab has no program of, emulated by small ones of its own: `perflab up --emulate NAME`.

An emulator is a package in one of the folders here, listed in `perflab.profiles`, with

* a docstring that says what is emulated and what is not,
* `crds.yaml`: the kinds that it serves, installed before the lab's controllers start (may be absent),
* `initial_objects.yaml`: the objects that a cluster has of it from the start, if any; see
  `framework/initial_objects.py`,
* `controllers(cluster)`: its controllers, each over stores of the cluster that they may share,
* `STEPS` and `NUMBERS`: what can be delayed, made to fail, or set, and what each is (may be absent; see
  `framework/steps.py`).

What an emulator creates carries the annotation `lab.psap.perf/emulated: NAME`.
"""
