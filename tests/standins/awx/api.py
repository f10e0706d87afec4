"""A stand-in for AWX's API: a real server on loopback that keeps objects like AWX 24.6.1, for the modules of awx.awx.

It refuses what AWX refuses and the project could send: duplicate names, playbooks that are not in the project, prompts
that a template does not have, malformed surveys, injectors and rrules, filters by unknown fields. It returns lists in
pages, and no secrets. It computes the variables of a launched job without starting it; nothing here is AWX.
"""

from __future__ import annotations

import base64
import contextlib
import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tests.standins.awx.surveys import RefusedError, accepted_variables, check_survey, launched
from tests.standins.http_servers import Quiet

TOKEN = "a-token-of-awx"
USER, PASSWORD = "admin", "a-password-of-awx"
ENCRYPTED = "$encrypted$"
_PREFIX = "/api/v2/"
_PAGE = 25
_PLAYBOOK = re.compile(r"^\s*?-?\s*?(?:hosts|include|import_playbook):\s*?.*?$", re.MULTILINE)
_NODE_LINKS = ("success_nodes", "failure_nodes", "always_nodes")
_PROMPTS = {
    "job_tags": "ask_tags_on_launch", "skip_tags": "ask_skip_tags_on_launch", "limit": "ask_limit_on_launch",
    "inventory": "ask_inventory_on_launch", "scm_branch": "ask_scm_branch_on_launch",
}  # fmt: skip
# the type of the objects of each collection, their defaults, and the names of fields that must be unique together
_TEMPLATE: dict[str, Any] = {
    "description": "", "extra_vars": "", "inventory": None, "scm_branch": "", "limit": "", "job_tags": "",
    "skip_tags": "", "survey_enabled": False, "allow_simultaneous": False, "ask_variables_on_launch": False,
    "ask_inventory_on_launch": False, "ask_scm_branch_on_launch": False, "ask_limit_on_launch": False,
    "ask_tags_on_launch": False, "ask_skip_tags_on_launch": False,
}  # fmt: skip
_KINDS: dict[str, tuple[str, dict[str, Any], tuple[str, ...]]] = {
    "organizations": ("organization", {"description": ""}, ("name",)),
    "credential_types": (
        "credential_type", {"description": "", "inputs": {}, "injectors": {}, "managed": False}, ("name",)),
    "credentials": (
        "credential", {"description": "", "inputs": {}, "organization": None},
        ("name", "organization", "credential_type")),
    "execution_environments": (
        "execution_environment", {"description": "", "organization": None, "credential": None, "pull": ""}, ("name",)),
    "projects": (
        "project",
        {"description": "", "scm_type": "", "scm_url": "", "scm_branch": "", "credential": None, "timeout": 0,
         "scm_update_on_launch": False, "allow_override": False, "default_environment": None, "scm_revision": ""},
        ("name", "organization")),
    "inventories": (
        "inventory", {"description": "", "kind": "", "host_filter": None, "variables": ""}, ("name", "organization")),
    "inventory_sources": (
        "inventory_source",
        {"description": "", "source_path": "", "source_vars": "", "overwrite": False, "overwrite_vars": False,
         "update_on_launch": False, "update_cache_timeout": 0, "source_project": None, "execution_environment": None},
        ("name", "inventory")),
    "job_templates": (
        "job_template",
        {**_TEMPLATE, "job_type": "run", "playbook": "", "forks": 0, "verbosity": 0, "timeout": 0,
         "execution_environment": None, "ask_credential_on_launch": False, "ask_job_type_on_launch": False,
         "ask_verbosity_on_launch": False},
        ("name", "organization")),
    "workflow_job_templates": (
        "workflow_job_template", {**_TEMPLATE, "organization": None}, ("name", "organization")),
    "workflow_job_template_nodes": (
        "workflow_job_template_node",
        {"extra_data": {}, "inventory": None, "job_tags": None, "skip_tags": None, "limit": None, "scm_branch": None,
         "unified_job_template": None, "all_parents_must_converge": False},
        ("identifier", "workflow_job_template")),
    "schedules": (
        "schedule", {"description": "", "extra_data": {}, "enabled": True, "inventory": None},
        ("name", "unified_job_template")),
}  # fmt: skip
_UNIFIED = ("job_templates", "workflow_job_templates", "projects", "inventory_sources")


def _refuse_unless(condition: object, **why: str) -> None:
    if not condition:
        raise RefusedError(400, {name: [text] for name, text in why.items()})


@dataclass
class AwxApi:
    """The objects by collection and ID; `writes` has the requests that changed something.

    Attributes:
        project: the folder in place of the checkout of a project's update.
    """

    project: Path
    url: str = ""
    objects: dict[str, dict[int, dict[str, Any]]] = field(default_factory=lambda: {kind: {} for kind in _KINDS})
    surveys: dict[int, dict[str, Any]] = field(default_factory=dict)
    links: dict[tuple[int, str], list[int]] = field(default_factory=dict)
    writes: list[tuple[str, str]] = field(default_factory=list)
    _last: int = 0

    def __post_init__(self) -> None:
        self.create("organizations", {"name": "Default"})

    def named(self, kind: str, name: str) -> dict[str, Any]:
        """Return the object with a name."""
        key = "identifier" if kind == "workflow_job_template_nodes" else "name"
        (found,) = (one for one in self.objects[kind].values() if one[key] == name)
        return found

    def names(self, kind: str) -> list[str]:
        """Return the names of all objects of a kind."""
        return sorted(one["name"] for one in self.objects[kind].values())

    def linked(self, kind: str, name: str, link: str) -> list[str]:
        """Return the names of an object's associated objects."""
        ids = self.links.get((self.named(kind, name)["id"], link), [])
        return sorted(one.get("identifier") or one["name"] for one in map(self._any, ids))

    def launch(self, template: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the variables of a template's job.

        Raises:
            RefusedError: An answer is wrong, or a variable is not prompted for.
        """
        one = self.named("job_templates", template)
        self._check_variables(one, given)
        return self._launched(one, given)

    def launch_workflow(self, workflow: str, given: Mapping[str, Any], artifacts: Mapping[str, Any]) -> dict[str, Any]:
        """Return the variables of a node's job, whose template has the name of the workflow without its last word.

        Variables of the workflow override the artifacts of earlier jobs, and both override the template's variables.

        Raises:
            RefusedError: As :meth:`launch`.
        """
        one = self.named("workflow_job_templates", workflow)
        self._check_variables(one, given)
        variables = self._launched(one, given)
        return self._launched(self.named("job_templates", workflow.rpartition(" ")[0]), {**artifacts, **variables})

    def _launched(self, template: dict[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
        questions = self.surveys.get(template["id"], {}).get("spec", [])
        return launched(questions, json.loads(template["extra_vars"] or "{}"), given)

    def answer(self, method: str, path: str, query: dict[str, str], body: Any) -> tuple[int, Any]:
        """Return the status and the document for a request."""
        kind, *rest = path.removeprefix(_PREFIX).strip("/").split("/")
        if kind == "project_updates":
            return 200, {"id": int(rest[0]), "status": "successful", "finished": "now", "failed": False}
        if kind == "unified_job_templates":
            everything = [one for each in _UNIFIED for one in self.objects[each].values()]
            return 200, self._page(path, everything, query, dict.fromkeys(("name", "organization", "type")))
        if kind not in _KINDS:
            raise RefusedError(404, {"detail": "Not found."})
        if not rest:
            if method == "GET":
                return 200, self._page(path, list(self.objects[kind].values()), query, _KINDS[kind][1])
            return 201, self._shown(self.create(kind, body))
        one = self.objects[kind].get(int(rest[0]))
        if one is None:
            raise RefusedError(404, {"detail": "Not found."})
        if len(rest) == 2:
            return self._subresource(method, path, one, rest[1], body)
        return self._object(method, kind, one, body)

    def create(self, kind: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Create an object.

        Raises:
            RefusedError: If AWX would refuse it.
        """
        self._last += 1
        identity = self._last
        one = {"id": identity, "type": _KINDS[kind][0], "url": f"{_PREFIX}{kind}/{identity}/"}
        one["related"] = {"survey_spec": f"{one['url']}survey_spec/", "update": f"{one['url']}update/"}
        one["summary_fields"] = {}
        self._update(kind, {**one, **deepcopy(_KINDS[kind][1])}, body)
        made = self.objects[kind][identity]
        if kind == "projects" and made["scm_type"]:
            made["scm_revision"] = "0" * 40
            made["summary_fields"] = {"current_update": {"id": identity}}
        return made

    def _object(self, method: str, kind: str, one: dict[str, Any], body: Any) -> tuple[int, Any]:
        if method == "PATCH":
            self._update(kind, one, body)
            return 200, self._shown(self.objects[kind][one["id"]])
        if method == "DELETE":
            self._delete(kind, one)
            return (202 if kind == "inventories" else 204), None
        return 200, self._shown(one)

    def _update(self, kind: str, one: dict[str, Any], body: Mapping[str, Any]) -> None:
        """Update *one* with *body*, unless AWX would refuse it."""
        given = {key: value for key, value in body.items() if key not in ("id", "type", "url", "managed")}
        if kind == "credentials" and "inputs" in given:
            old = one.get("inputs", {})
            given["inputs"] = {
                key: old.get(key) if value == ENCRYPTED else value for key, value in given["inputs"].items()
            }
        wanted = {**one, **given}
        if kind == "job_templates":
            # the project's, for every request
            wanted["organization"] = self._any(wanted["project"])["organization"] if wanted.get("project") else None
        unique = _KINDS[kind][2]
        taken = [
            other for other in self.objects[kind].values()
            if other["id"] != one["id"] and all(other.get(key) == wanted.get(key) for key in unique)
        ]  # fmt: skip
        _refuse_unless(not taken, __all__=f"{one['type']} with this {', '.join(unique)} already exists.")
        check: Callable[[dict[str, Any]], None] = getattr(self, f"_check_{kind}", lambda _wanted: None)
        check(wanted)
        self.objects[kind][one["id"]] = wanted

    def _delete(self, kind: str, one: dict[str, Any]) -> None:
        if kind == "credential_types" and any(
            each["credential_type"] == one["id"] for each in self.objects["credentials"].values()
        ):
            raise RefusedError(403, {"detail": "Credential types that are in use cannot be deleted"})
        del self.objects[kind][one["id"]]
        for child, parent in (
            ("workflow_job_template_nodes", "workflow_job_template"), ("schedules", "unified_job_template"),
            ("inventory_sources", "inventory"),
        ):  # fmt: skip
            of_it = [each for each in self.objects[child].values() if each[parent] == one["id"]]
            for each in of_it:
                self._delete(child, each)

    def _subresource(self, method: str, path: str, one: dict[str, Any], name: str, body: Any) -> tuple[int, Any]:
        if name == "survey_spec":
            return 200, self._survey(method, one, body)
        ids = self.links.setdefault((one["id"], name), [])
        if method == "GET":
            return 200, self._page(path, [self._any(each) for each in ids], {}, {})
        other = self._any(body["id"])
        if body.get("disassociate"):
            ids.remove(other["id"])
            return 204, None
        if name == "credentials":
            kinds = [self._any(each)["credential_type"] for each in ids]
            _refuse_unless(other["credential_type"] not in kinds, error="Cannot assign multiple credentials of a type.")
        if name in _NODE_LINKS:
            _refuse_unless(not self._leads_to(other["id"], one["id"]), Error="Cycle detected.")
            _refuse_unless(other["id"] not in self._following(one["id"]), Error="Relationship not allowed.")
        ids.append(other["id"])
        return 204, None

    def _leads_to(self, start: int, end: int) -> bool:
        return start == end or any(self._leads_to(each, end) for each in self._following(start))

    def _following(self, node: int) -> list[int]:
        return [each for link in _NODE_LINKS for each in self.links.get((node, link), [])]

    def _survey(self, method: str, one: dict[str, Any], body: Any) -> Any:
        if method == "DELETE":
            self.surveys.pop(one["id"], None)
        if method == "POST":
            check_survey(body)
            self.surveys[one["id"]] = body
        return self.surveys.get(one["id"], {}) if method == "GET" else {}

    def _any(self, identity: int) -> dict[str, Any]:
        for kind in self.objects.values():
            if identity in kind:
                return kind[identity]
        raise RefusedError(400, {"detail": f'Invalid pk "{identity}" - object does not exist.'})

    def _shown(self, one: dict[str, Any]) -> dict[str, Any]:
        if one["type"] != "credential":
            return one
        fields = self._any(one["credential_type"])["inputs"].get("fields", [])
        secret = {each["id"] for each in fields if each.get("secret")}
        return {
            **one, "inputs": {key: ENCRYPTED if key in secret else value for key, value in one["inputs"].items()}
        }  # fmt: skip

    def _page(
        self, path: str, found: list[dict[str, Any]], query: dict[str, str], known: Mapping[str, Any]
    ) -> dict[str, Any]:
        page = int(query.pop("page", "1"))
        either = {key.removeprefix("or__"): query.pop(key) for key in list(query) if key.startswith("or__")}
        for key in query:
            searchable = ("id", "name", "identifier", "inventory", "organization", "credential_type",
                          "workflow_job_template", "unified_job_template")  # fmt: skip
            if key not in known and key not in searchable:
                raise RefusedError(400, {"detail": f"{key} is no field that can be filtered by"})
        matching = [
            one for one in found
            if all(str(one.get(key)) == value for key, value in query.items())
            and (not either or any(str(one.get(key)) == value for key, value in either.items()))
        ]  # fmt: skip
        shown = matching[(page - 1) * _PAGE : page * _PAGE]
        following = f"{path}?page={page + 1}" if page * _PAGE < len(matching) else None
        return {"count": len(matching), "next": following, "previous": None, "results": list(map(self._shown, shown))}

    def _check_credential_types(self, one: dict[str, Any]) -> None:
        _refuse_unless(one.get("kind") in ("cloud", "net"), kind="Must be 'cloud' or 'net'.")
        names = set()
        for each in one["inputs"].get("fields", []):
            unknown = set(each) - {"id", "label", "help_text", "type", "format", "secret", "multiline", "choices",
                                   "default", "ask_at_runtime"}  # fmt: skip
            _refuse_unless(not unknown, inputs=f"Additional properties are not allowed ({unknown})")
            _refuse_unless({"id", "label"} <= set(each) and each["id"] != "tower", inputs="id and label are required")
            names.add(each["id"])
        _refuse_unless(set(one["inputs"].get("required", [])) <= names, inputs="a required field is not defined")
        _refuse_unless(set(one["injectors"]) <= {"file", "env", "extra_vars"}, injectors="unknown injector")
        for part, templates in one["injectors"].items():
            for name, template in templates.items():
                used = set(re.findall(r"{{\s*(\w+)", template)) - {"tower"}
                _refuse_unless(used <= names, injectors=f"{part}.{name} uses an undefined field ({used - names})")
                forbidden = part == "env" and (name.startswith("ANSIBLE_") or name in ("PATH", "PYTHONPATH", "JOB_ID"))
                _refuse_unless(not forbidden, injectors=f"Environment variable {name} is not allowed")

    def _check_credentials(self, one: dict[str, Any]) -> None:
        known = {each["id"] for each in self._any(one["credential_type"])["inputs"].get("fields", [])}
        _refuse_unless(set(one["inputs"]) <= known, inputs="Additional properties are not allowed")

    def _check_job_templates(self, one: dict[str, Any]) -> None:
        _refuse_unless(one.get("project"), project="This field is required.")
        project = self._any(one["project"])
        found = project["allow_override"] or one["playbook"] in self.playbooks()
        _refuse_unless(found, playbook="Playbook not found for project.")
        _refuse_unless(
            one["inventory"] or one["ask_inventory_on_launch"],
            inventory="Job Template must provide 'inventory' or allow prompting for it.",
        )

    def playbooks(self) -> list[str]:
        """Return the files of a project that AWX lists as playbooks: those with a line like a play's."""
        skipped = {"roles", "tasks", "group_vars", "host_vars"}
        files = (path.relative_to(self.project) for path in self.project.rglob("*.yml"))
        possible = (path for path in files if not skipped & set(path.parts) and not any(
            part.startswith(".") for part in path.parts))  # fmt: skip
        return sorted(str(path) for path in possible if _PLAYBOOK.search((self.project / path).read_text()))

    def _check_workflow_job_template_nodes(self, one: dict[str, Any]) -> None:
        template = self._any(one["unified_job_template"])
        for name, prompt in _PROMPTS.items():
            allowed = not one[name] or template.get(prompt)
            _refuse_unless(allowed, **{name: "Field is not configured to prompt on launch."})
        self._check_variables(template, one["extra_data"])

    def _check_schedules(self, one: dict[str, Any]) -> None:
        rule = one.get("rrule", "")
        _refuse_unless(re.match(r"DTSTART(;TZID=[\w/]+:\d{8}T\d{6}|:\d{8}T\d{6}Z) RRULE:", rule), rrule="No DTSTART.")
        _refuse_unless("INTERVAL=" in rule, rrule="INTERVAL required in rrule.")
        self._check_variables(self._any(one["unified_job_template"]), one["extra_data"])

    def _check_variables(self, template: dict[str, Any], variables: Mapping[str, Any]) -> None:
        questions = self.surveys.get(template["id"], {}).get("spec", []) if template.get("survey_enabled") else []
        accepted, errors = accepted_variables(questions, bool(template.get("ask_variables_on_launch")), variables)
        rejected = set(variables) - set(accepted)
        _refuse_unless(not errors, variables_needed_to_start="; ".join(errors))
        _refuse_unless(not rejected, extra_vars=f"Variables {rejected} are not allowed on launch.")


@contextlib.contextmanager
def awx_api(project: Path) -> Iterator[AwxApi]:
    """Serve the API with an organization; *project* replaces the checkout of a project's update."""
    api = AwxApi(project)
    basic = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()

    class Handler(Quiet, BaseHTTPRequestHandler):
        def _handle(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or "null")
            address = urlsplit(self.path)
            status, document = self._answer(address.path, dict(parse_qsl(address.query)), body)
            data = b"" if document is None else json.dumps(document).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.send_header("X-API-Product-Name", "AWX")
            self.send_header("X-API-Product-Version", "24.6.1")
            self.end_headers()
            self.wfile.write(data)

        def _answer(self, path: str, query: dict[str, str], body: Any) -> tuple[int, Any]:
            given = self.headers.get("Authorization")
            if path == f"{_PREFIX}tokens/" and given == basic:
                return 201, {"id": 1, "token": TOKEN}
            if path == f"{_PREFIX}tokens/1/" and given == basic:
                return 204, None
            if given != f"Bearer {TOKEN}":
                return 401, {"detail": "Authentication credentials were not provided."}
            if self.command != "GET":
                api.writes.append((self.command, path))
            try:
                return api.answer(self.command, path, query, body)
            except RefusedError as refused:
                return refused.status, refused.document

    for method in ("GET", "POST", "PATCH", "DELETE"):
        setattr(Handler, f"do_{method}", Handler._handle)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    api.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield api
    finally:
        server.shutdown()
        server.server_close()
