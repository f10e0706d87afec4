"""A product as the controllers of its rules."""

from __future__ import annotations

import importlib

from perflab.emulators.engine.product import ProductFile
from perflab.emulators.engine.rules import RuleController
from perflab.emulators.engine.targets import Targets
from perflab.emulators.engine.templates import Compiler, Scope
from perflab.emulators.framework.cluster import Cluster
from perflab.emulators.framework.controller import Controller
from perflab.emulators.framework.initial_objects import InitialObjects
from perflab.emulators.framework.operator_deployments import Operators

_INITIAL = "initial_objects.yaml"


def controllers_of(cluster: Cluster, file: ProductFile, targets: Targets) -> list[Controller]:
    """Return one controller for each rule, and one for the initial objects.

    Raises:
        ProductError: A template cannot be compiled, or uses an unknown name.
    """
    product = file.product
    functions = importlib.import_module(product.functions).FUNCTIONS if product.functions else {}
    compiler = Compiler(file, functions)
    known = frozenset(product.vars)
    scope = Scope({}, compiler.variables(product.vars, ("vars",), known))
    operators = Operators(cluster, product.operators)
    controllers = [
        RuleController(cluster, rule, compiler, ("rules", index), scope, known, operators, targets).controller
        for index, rule in enumerate(product.rules)
    ]
    initial = file.path.with_name(_INITIAL)
    return [*([InitialObjects(cluster, initial).controller] if initial.exists() else ()), *controllers]
