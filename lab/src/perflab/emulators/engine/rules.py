"""The controller of one rule of a product: makes objects of a kind, and their children, match the rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from perflab.cluster.api import Document
from perflab.emulators.engine.children import Children
from perflab.emulators.engine.functions import contains
from perflab.emulators.engine.product import Path_, ProductError, Rule
from perflab.emulators.engine.reads import Reading
from perflab.emulators.engine.targets import Targets
from perflab.emulators.engine.templates import Compiler, Scope, Template
from perflab.emulators.framework.cluster import Cluster
from perflab.emulators.framework.controller import Controller
from perflab.emulators.framework.documents import conditions_of, is_leaving, with_condition
from perflab.emulators.framework.operator_deployments import Operators
from perflab.emulators.framework.resources import Resource, parse_kind
from perflab.emulators.framework.steps import Progress, StepState
from perflab.emulators.framework.store import Key, Store, key_of

_RULE_NAMES = frozenset(("object", "name", "namespace", "operator", "step", "children"))


@dataclass(frozen=True, slots=True)
class _Rendered:
    """One entry of a list of the rule, compiled: the fields that are templates, and the loop."""

    fields: Mapping[str, Template]
    loop: Template | None = None

    def scopes(self, scope: Scope) -> list[Scope]:
        """Return the scope itself, or one for each item of the loop."""
        return [scope] if self.loop is None else [scope.with_item(item) for item in self.loop(scope) or ()]


class RuleController:
    """Reconciles the objects of a rule."""

    def __init__(
        self,
        cluster: Cluster,
        rule: Rule,
        compiler: Compiler,
        path: Path_,
        scope: Scope,
        known: frozenset[str],
        operators: Operators,
        targets: Targets,
    ) -> None:
        """*path* is the place of the rule in its file; *scope* has the names of the product, *known*."""
        self._cluster = cluster
        self._rule = rule
        self._compiler = compiler
        self._path = path
        self._product_scope = scope
        self._operators = operators
        self._always = rule.always or not operators.packages
        self._targets = targets
        namespace, _, name = rule.name.rpartition("/")
        self._only: Key | None = (namespace, name) if name else None
        self._store: Store = cluster.store(parse_kind(rule.kind), rule.labels, name)
        self.controller = Controller(f"{rule.kind}", self._reconcile)
        self._readings = {
            title: Reading(read, cluster.stores, compiler, scope, (*path, "reads", title), known, self._enqueue)
            for title, read in rule.reads.items()
        }
        self._names = known | _RULE_NAMES | rule.reads.keys() | rule.vars.keys()
        self._lazy: dict[str, Template] = compiler.variables(rule.vars, (*path, "vars"), self._names)
        self._when = self._test(rule.when, "when")
        self._finalized = self._test(rule.finalized, "finalized")
        self._steps = {title: self._step(title) for title in rule.steps}
        self._children = Children(cluster, self._store, rule.children, compiler, (*path, "children"), self._names)
        self._patches = [self._entry("patches", index) for index in range(len(rule.patches))]
        self._conditions = [self._entry("conditions", index) for index in range(len(rule.conditions))]
        self._events = [self._entry("events", index) for index in range(len(rule.events))]
        self._metrics = [self._entry("metrics", index) for index in range(len(rule.metrics))]
        self._status = compiler.value(rule.status or {}, (*path, "status"), self._names)
        self._deletes = [
            compiler.value(text, (*path, "deletes", index), self._names) for index, text in enumerate(rule.deletes)
        ]
        self._listen()

    def _test(self, expression: str, *path: str | int) -> Template:
        return self._compiler.test(expression, (*self._path, *path), self._names)

    def _step(self, title: str) -> _Rendered:
        if title not in self._cluster.steps.known.steps:
            place = self._compiler.file.place((*self._path, "steps", title))
            raise ProductError(f"{place}: the product declares no step {title!r}")
        use, path = self._rule.steps[title], (*self._path, "steps", title)
        names = self._names if use.loop is None else self._names | {"item"}
        fields: dict[str, Template] = {
            "when": self._compiler.test(use.when, (*path, "when"), names),
            "delay": self._compiler.value(use.delay, (*path, "delay"), names),
        }
        if use.object:
            fields["object"] = self._compiler.value(use.object, (*path, "object"), names)
        loop = self._compiler.value(use.loop, (*path, "loop"), self._names) if use.loop is not None else None
        return _Rendered(fields, loop)

    def _entry(self, part: str, index: int) -> _Rendered:
        entry, path = getattr(self._rule, part)[index], (*self._path, part, index)
        loop = getattr(entry, "loop", None)
        names = self._names if loop is None else self._names | {"item"}
        fields: dict[str, Template] = {}
        for name in entry.__struct_fields__:
            value = getattr(entry, name)
            if name == "when":
                fields[name] = self._compiler.test(value, (*path, name), names)
            elif name != "loop":
                fields[name] = self._compiler.value(value, (*path, name), names)
        return _Rendered(fields, self._compiler.value(loop, (*path, "loop"), self._names) if loop is not None else None)

    def _listen(self) -> None:
        if self._only is not None:
            # it is reconciled even if it is absent
            self._enqueue(None)
            self._store.listen(lambda _old, _new: self._enqueue(None))
        else:
            self.controller.follow(self._store)
        self._store.listen(self._removed)
        self._children.listen(self._enqueue)
        self._operators.listen(lambda: self._enqueue(None))
        if self._rule.steps:
            self._cluster.steps.listen(lambda: self._enqueue(None))

    def _removed(self, old: Document | None, new: Document | None) -> None:
        if new is None and old is not None:
            self._unpublish(key_of(old))

    def _enqueue(self, key: Key | None) -> None:
        if key is not None:
            self.controller.enqueue(key)
        elif self._only is not None:
            self.controller.enqueue(self._only)
        else:
            self.controller.enqueue_all()

    def _scope(self, key: Key) -> Scope:
        lazy = {**self._lazy}
        for title, reading in self._readings.items():
            lazy[title] = lambda _scope, reading=reading: reading.of(key)  # type: ignore[misc]
        values = {
            "object": self._store.get(key) or {},
            "name": key[1],
            "namespace": key[0],
            "operator": self._operators.running or {},
            "step": {},
            "children": {},
        }
        return Scope(values, lazy, self._product_scope)

    async def _reconcile(self, key: Key) -> float | None:
        document = self._store.get(key)
        if (document is None and self._only is None) or not (self._always or self._operators.running):
            self._unpublish(key)
            return None
        scope = self._scope(key)
        if document is not None and is_leaving(document):
            self._unpublish(key)
            await self._end(key, document, scope)
            return None
        if document is not None and self._rule.finalizer:
            await self._store.add_finalizer(document, self._rule.finalizer)
            scope.refresh(object=self._store.get(key) or {})
        return await self._bring(key, scope)

    async def _bring(self, key: Key, scope: Scope) -> float | None:
        """Apply the rule to an object; return the seconds until a step is due."""
        progress = Progress(self._cluster.steps, self._store.get(key))
        if not self._when(scope):
            for title in self._rule.steps:
                progress.keep_only(title)
            await progress.save(self._store)
            self._unpublish(key)
            return None
        for title in self._steps:
            scope.refresh(step={**scope.find("step"), title: self._check(title, progress, scope)})
        await progress.save(self._store)
        scope.refresh(object=self._store.get(key) or {})
        scope.refresh(children=await self._children.bring(scope))
        await self._patch(key, scope)
        await self._write_status(key, scope)
        await self._create_events(scope)
        await self._delete(scope)
        self._publish(key, scope)
        return progress.wait_s

    def _check(self, title: str, progress: Progress, scope: Scope) -> StepState | dict[str, StepState]:
        step = self._steps[title]
        progress.keep_only(title, [self._object_of(step, each) for each in step.scopes(scope)])
        states = {}
        for each in step.scopes(scope):
            about = self._object_of(step, each)
            fields = step.fields
            states[about] = progress.check(title, about, fields["when"](each), own_delay_s=fields["delay"](each))
        return states if step.loop is not None else next(iter(states.values()))

    def _object_of(self, step: _Rendered, scope: Scope) -> str:
        return str(step.fields["object"](scope) if "object" in step.fields else scope.find("name"))

    async def _patch(self, key: Key, scope: Scope) -> None:
        for patch in self._patches:
            if patch.loop is not None:
                for each in patch.scopes(scope):
                    if patch.fields["when"](each):
                        other = each.find("item")
                        path = Resource.of(other["apiVersion"], other["kind"]).path(*key_of(other))
                        await self._cluster.api.patch_present(path, patch.fields["object"](each))
            elif patch.fields["when"](scope):
                change = patch.fields["object"](scope)
                present = self._store.get(key)
                if present is not None and not contains(present, change):
                    await self._store.patch(key, change)
                    scope.refresh(object=self._store.get(key) or {})

    async def _write_status(self, key: Key, scope: Scope) -> None:
        document = self._store.get(key)
        if document is None:
            return
        status = self._status(scope) or {}
        if self._conditions:
            status = {**status, "conditions": self._all_conditions(document, scope)}
        known = document.get("status") or {}
        change = {
            name: value
            for name, value in status.items()
            # a count of zero is written, too
            if not contains(known.get(name), value) or (value == 0 and name not in known)
        }
        if change:
            await self._store.patch_status(key, change)

    def _all_conditions(self, document: Document, scope: Scope) -> list[Document]:
        conditions = conditions_of(document)
        for entry in self._conditions:
            for each in entry.scopes(scope):
                fields = {name: make(each) for name, make in entry.fields.items()}
                reason, message = str(fields["reason"]), str(fields.get("message", ""))
                conditions = with_condition(conditions, str(fields["type"]), fields["when"], reason, message)
        return conditions

    async def _create_events(self, scope: Scope) -> None:
        document = scope.find("object")
        for event in self._events:
            if event.fields["when"](scope):
                reason, message, kind = (str(event.fields[name](scope)) for name in ("reason", "message", "type"))
                await self._cluster.event(self._store.resource, document, reason, message, kind)

    async def _delete(self, scope: Scope) -> None:
        """Delete the first group that still exists; the next one follows when it is gone."""
        for group in self._deletes:
            documents = group(scope) or ()
            for document in documents:
                if not is_leaving(document):
                    resource = Resource.of(document["apiVersion"], document["kind"])
                    await self._cluster.api.delete(resource.path(*key_of(document)))
            if documents:
                return

    async def _end(self, key: Key, document: Document, scope: Scope) -> None:
        """Finalize in order: delete the children, then delete or change other objects, then release the object."""
        if self._rule.finalizer not in (document["metadata"].get("finalizers") or ()):
            return
        are_gone = await self._children.remove(scope)
        await self._patch(key, scope)
        await self._delete(scope)
        if are_gone and self._finalized(scope):
            await self._store.remove_finalizer(self._store.get(key) or document, self._rule.finalizer)

    def _publish(self, key: Key, scope: Scope) -> None:
        for index, entry in enumerate(self._metrics):
            path = self._page_path(key, index)
            if entry.fields["when"](scope):
                labels = {name: str(value) for name, value in entry.fields["labels"](scope).items()}
                page = entry.fields["page"]
                self._targets.set(path, labels, lambda page=page: str(page(self._scope(key))))  # type: ignore[misc]
            else:
                self._targets.remove(path)

    def _unpublish(self, key: Key) -> None:
        for index in range(len(self._metrics)):
            self._targets.remove(self._page_path(key, index))

    def _page_path(self, key: Key, index: int) -> str:
        plural = self._store.resource.plural
        return "/".join((self._cluster.name, plural, str(self._path[-1]), str(index), *filter(None, key)))
