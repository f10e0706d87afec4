"""The interface of llm-load-test: `load_test.py -c CONFIGURATION` writes results. The client is the tests' own.

It sends the maximum number of requests of the data set, not for a duration.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from pathlib import Path

import yaml

sys.path.insert(0, str(Path(__file__).parents[4]))

from tests.standins.load_generators.load_client import load, load_by_grpc

parser = argparse.ArgumentParser()
parser.add_argument("-c", type=Path, required=True)
config = yaml.safe_load(parser.parse_args().c.read_text())
plugin, users = config["plugin_options"], config["load_options"]["concurrency"]
tokens, requests = config["dataset"]["max_output_tokens"], config["dataset"]["max_queries"]
if config["plugin"] == "tgis_grpc_plugin":
    client, target = load_by_grpc, f"{plugin['host']}:{plugin['port']}"
else:
    client, target = load, plugin["host"] + plugin["endpoint"].removesuffix("/v1/completions")
results = asyncio.run(client(target, plugin["model_name"], users=users, requests=requests, tokens=tokens))
output = config["output"]
Path(output["dir"], output["file"]).write_text(json.dumps(results))
print(f"{len(results['results'])} requests of {users} users")
