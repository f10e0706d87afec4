"""`python -m perfanalysis.workloads.declared.schema` prints the JSON Schema of workload.yml."""

from __future__ import annotations

import json
import sys

from perfanalysis.files.typed_yaml import json_schema
from perfanalysis.workloads.declared.model import WorkloadDeclared

TITLE = "psap.perf/workload/1"


def schema_text() -> str:
    """The schema as docs/schema/workload-1.json has it."""
    return json.dumps(json_schema(WorkloadDeclared, TITLE), indent=2) + "\n"


if __name__ == "__main__":
    sys.stdout.write(schema_text())
