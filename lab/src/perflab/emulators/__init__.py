"""Controllers that a lab has no program of, emulated by small ones of its own: `perflab up --emulate NAME`.

An emulator is a folder here, listed in `perflab.profiles`, with

* `product.yaml`, the rules that the `engine` runs (docs/lab.md has its vocabulary), or else a package of Python: a
  docstring that says what is emulated and what is not, `controllers(cluster)`, and `STEPS` and `NUMBERS`, what can be
  delayed, made to fail, or set, and what each is,
* `initial_objects.yaml`: the objects that a cluster has of it from the start (optional).

The kinds that it serves are in `perflab/crds/emulators/NAME.yaml` (optional), installed before the lab's controllers
start.

What an emulator creates carries the annotation `lab.psap.perf/emulated: NAME`.
"""
