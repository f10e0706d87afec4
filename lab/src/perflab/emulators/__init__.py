"""Emulators of controllers for which the lab has no program: `perflab up --emulate NAME`.

An emulator is a folder here, listed in `perflab.profiles`, with

* `product.yaml`, the rules that the `engine` runs (docs/lab.md has its vocabulary), or else a Python package: a
  docstring that states what is emulated and what is not, `controllers(cluster)`, and `STEPS` and `NUMBERS`, which
  declare settable delays, failures and numbers,
* `initial_objects.yaml`: the objects that a cluster has of it from the start (optional).

The kinds that it serves are in `perflab/crds/emulators/NAME.yaml` (optional), installed before the lab's controllers
start.

Objects that an emulator creates have the annotation `lab.psap.perf/emulated: NAME`.
"""
