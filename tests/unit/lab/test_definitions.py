"""Definitions from modules: fields that a cluster validates are kept, descriptions are removed."""

from __future__ import annotations

import json
from pathlib import Path

import yaml
from perflab.building import definitions

DEFINITION = """
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  names: {kind: Thing, plural: things}
  scope: Namespaced
  versions:
    - name: v1
      served: true
      storage: true
      subresources: {status: {}}
      schema:
        openAPIV3Schema:
          description: A thing.
          type: object
          required: [description]
          properties:
            description:
              description: Text about the thing.
              type: string
              enum: [description]
            parts:
              type: array
              items: {description: A part., type: object, additionalProperties: {type: string, description: Of it.}}
status: {conditions: null, storedVersions: null}
---
kind: ConfigMap
"""


def test_descriptions_are_removed_but_fields_of_that_name_kept(tmp_path: Path) -> None:
    source = tmp_path / "things.yaml"
    source.write_text(DEFINITION)
    definitions.take(source, tmp_path / "taken")
    assert [path.name for path in (tmp_path / "taken").iterdir()] == ["things.example.com.json"]
    taken = json.loads((tmp_path / "taken" / "things.example.com.json").read_text())
    assert "status" not in taken
    version = taken["spec"]["versions"][0]
    assert version.pop("schema") == {
        "openAPIV3Schema": {
            "type": "object",
            "required": ["description"],
            "properties": {
                "description": {"type": "string", "enum": ["description"]},
                "parts": {
                    "type": "array",
                    "items": {"type": "object", "additionalProperties": {"type": "string"}},
                },
            },
        }
    }
    whole = next(yaml.safe_load_all(DEFINITION.lstrip("-\n")))
    assert version == {key: value for key, value in whole["spec"]["versions"][0].items() if key != "schema"}
