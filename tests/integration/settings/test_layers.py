"""Every layer, on every kind of host: a setting has the value of the highest layer that sets it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.settings.static import effective
from perfdrv.ansible.sites import read_site
from perfdrv.project import Project

REPOSITORY = Path(__file__).resolve().parents[3]

# low to high; each setting is set by all files up to its own layer
LAYERS = [
    "default",
    "base",
    "site_inventory",
    "site_group_vars",
    "base_group",
    "site_group_inventory",
    "site_group",
    "host_vars",
    "preset",
    "play",
    "include",
    "extra",
]
IN_GROUP = {"base_group", "site_group_inventory", "site_group"}
HOSTS = {
    "sutest": set(LAYERS),
    "lane-a": set(LAYERS),
    # localhost is in no group of the site
    "localhost": set(LAYERS) - IN_GROUP,
    # a lane of a flow is in the groups of its host
    "region_branch": set(LAYERS),
}

PLAYBOOK = """\
- name: Settings
  hosts: localhost
  tasks:
    - name: Check
      psap.perf.settings:
        flow: tiny
- name: Lanes
  hosts: sutest
  tasks:
    - name: Make one
      ansible.builtin.include_tasks: shared/lanes.yml
      vars:
        perf_checked: {}
        perf_clusters: {access: []}
        perf_stage: {stage: prepare, regions: {region: [branch]}}
- name: Show
  hosts: sutest, lane-a, prepare, localhost
  vars:
    %(play)s
  tasks:
    - name: Include
      ansible.builtin.include_tasks: tiny/show.yml
      vars:
        %(include)s
"""


def assignments_of(layer: str, indent: str = "", sign: str = ": ") -> str:
    """Return lines that set the setting of *layer* and of every higher one to the name of *layer*."""
    above = LAYERS[LAYERS.index(layer) :]
    return f"\n{indent}".join(f"tiny_{one}{sign}{layer}" for one in above)


@pytest.fixture
def layered(project: Any) -> Any:
    options = "\n".join(f"  tiny_{one}: {{type: str, default: default, description: Up to {one}.}}" for one in LAYERS)
    project.write("playbooks/tiny/settings.yml", f"short_description: Layers\noptions:\n{options}\n")
    project.write("group_vars/all/tiny.yml", assignments_of("base"))
    project.write("playbooks/group_vars/clusters.yml", assignments_of("base_group"))
    project.write("playbooks/group_vars/lanes.yml", assignments_of("base_group"))
    inline = assignments_of("site_group_inventory", "        ")
    groups = "".join(
        f"    {group}:\n      vars:\n        {inline}\n      hosts:\n        {host}:\n"
        for group, host in (("clusters", "sutest"), ("lanes", "lane-a"))
    )
    project.write(
        "inventories/site/hosts.yml",
        "all:\n  hosts:\n    localhost:\n  vars:\n    ansible_connection: local\n"
        f"    {assignments_of('site_inventory', '    ')}\n  children:\n{groups}",
    )
    project.write("inventories/site/group_vars/all.yml", assignments_of("site_group_vars"))
    project.write("inventories/site/group_vars/clusters.yml", assignments_of("site_group"))
    project.write("inventories/site/group_vars/lanes.yml", assignments_of("site_group"))
    project.write("playbooks/shared/lanes.yml", (REPOSITORY / "playbooks/shared/lanes.yml").read_text())
    for host in ("sutest", "lane-a", "localhost"):
        project.write(f"inventories/site/host_vars/{host}.yml", assignments_of("host_vars"))
    project.write("presets/layers.yml", "preset_layers:\n  " + assignments_of("preset", "  "))
    values = {
        "play": assignments_of("play", " " * 4),
        "include": assignments_of("include", " " * 8),
    }
    project.write("playbooks/tiny.yml", PLAYBOOK % values)
    shown = ", ".join(f"'{one}': tiny_{one}" for one in LAYERS)
    project.write(
        "playbooks/tiny/show.yml",
        "- name: Show\n  ansible.builtin.debug:\n"
        f"    msg: \"RESULT {{{{ {{'host': inventory_hostname, {shown}}} | to_json }}}}\"\n",
    )
    return project


def test_every_layer_applies_on_every_kind_of_host(layered: Any) -> None:
    outcome = layered.run("-e", "@presets/layers.yml", "-e", "tiny_extra=extra")

    assert {result["host"] for result in outcome.results} == set(HOSTS)
    for result in outcome.results:
        given = HOSTS[result["host"]]
        expected = {}
        for index, layer in enumerate(LAYERS):
            expected[layer] = [one for one in LAYERS[: index + 1] if one in given][-1]
        assert result == {"host": result["host"], **expected}


def test_driver_reads_the_layers_as_ansible_does(layered: Any) -> None:
    document = layered.run("-e", "@presets/layers.yml", "-e", "tiny_extra=extra").document
    project = Project(layered.root)
    site = read_site(project, "site")

    for host in ("localhost", "sutest", "lane-a"):
        known = effective(project.content(), "tiny", site.layers_of(host), ["layers"], [("tiny_extra", "extra")])
        recorded = {**document["all"], **document["hosts"].get(host, {})}
        # a host's table has the differing values; equal values have the origins of localhost
        assert {name: one.value for name, one in known.items() if name in recorded} == {
            name: entry["value"] for name, entry in recorded.items()
        }
        differing = document["all"] if host == "localhost" else document["hosts"][host]
        assert {name: known[name].origin for name in differing} == {
            name: entry["origin"] for name, entry in differing.items()
        }


SCRIPT = """\
#!/bin/sh
cat <<'END'
{"all": {"vars": {"ansible_connection": "local", "tiny_name": "all"}},
 "clusters": {"hosts": ["sutest"], "vars": {"tiny_name": "group"}},
 "_meta": {"hostvars": {"sutest": {"tiny_count": 7}}}}
END
"""
INI = "[clusters]\nsutest tiny_count=7\n[clusters:vars]\ntiny_name=group\n[all:vars]\nansible_connection=local\n"


@pytest.mark.parametrize(("text", "mode"), [(INI, 0o600), (SCRIPT, 0o700)], ids=["ini", "script"])
def test_driver_reads_the_inventory_as_ansible_does(project: Any, text: str, mode: int) -> None:
    project.write("inventories/other/hosts", text).chmod(mode)
    project.write("inventories/other/group_vars/clusters.yml", "tiny_rate: 2.5\n")
    project.write(
        "playbooks/tiny.yml", (project.root / "playbooks/tiny.yml").read_text().replace("localhost", "sutest")
    )

    recorded = project.run(site="inventories/other").document["all"]
    known = effective(
        Project(project.root).content(), "tiny", read_site(Project(project.root), "other").layers_of("sutest")
    )

    assert [recorded[name]["value"] for name in ("tiny_name", "tiny_count", "tiny_rate")] == ["group", 7, 2.5]
    assert {name: (known[name].value, known[name].origin) for name in recorded} == {
        name: (entry["value"], entry["origin"]) for name, entry in recorded.items()
    }


def test_role_default_is_below_every_layer(project: Any) -> None:
    project.write(
        "playbooks/tiny.yml",
        "- name: Show\n  hosts: localhost\n  tasks:\n    - name: Probe\n      ansible.builtin.include_role:\n"
        "        name: psap.perf.repo_probe\n",
    )
    project.write("presets/sized.yml", "preset_sized:\n  tiny_name: me\n  repo_probe_size: 5\n")

    assert project.run().results == [{"host": "localhost", "name": "nobody", "size": 3}]
    assert project.run("-e", "@presets/sized.yml").results == [{"host": "localhost", "name": "me", "size": 5}]
    assert project.run("-e", "@presets/sized.yml", "-e", "repo_probe_name=x").results == [
        {"host": "localhost", "name": "x", "size": 5}
    ]


def test_argument_has_the_value_of_its_setting_or_cell(project: Any) -> None:
    declared = (project.root / "playbooks/tiny/settings.yml").read_text()
    size = "  tiny_size: {argument: repo_probe_size, dimension: true}\n"
    project.write("playbooks/tiny/settings.yml", declared.replace("options:\n", f"options:\n{size}"))
    probe = "    - name: Probe\n      ansible.builtin.include_role:\n        name: psap.perf.repo_probe\n"
    cell = "      vars:\n        perf_cell: {index: 0, values: {tiny_size: 9}}\n"
    project.write("playbooks/tiny.yml", f"- name: Show\n  hosts: localhost\n  tasks:\n{probe}{probe}{cell}")

    assert [one["size"] for one in project.run("-e", "tiny_size=5").results] == [5, 9]
    project.write("group_vars/all/size.yml", "repo_probe_size: 6\n")
    assert [one["size"] for one in project.run().results] == [6, 6]


@pytest.mark.parametrize(
    ("files", "arguments", "tree", "origin"),
    [
        pytest.param(
            {"inventories/site/group_vars/all.yml": "tiny_tree.r: 10\n"},
            [],
            {"r": 10, "inner": {"alpha": 2}},
            "group_vars/all/tree.yml:1, inventories/site/group_vars/all.yml:1",
            id="site",
        ),
        pytest.param(
            {
                "inventories/site/group_vars/all.yml": "tiny_tree.inner.beta: 10\n",
                "presets/leaf.yml": "preset_leaf:\n  tiny_tree.inner.gamma: 11\n",
            },
            ["-e", "@presets/leaf.yml", "-e", "tiny_tree.r=12"],
            {"r": 12, "inner": {"alpha": 2, "beta": 10, "gamma": 11}},
            "group_vars/all/tree.yml:1, inventories/site/group_vars/all.yml:1, presets/leaf.yml:2, command line",
            id="site-preset-command-line",
        ),
        pytest.param(
            {
                "inventories/site/group_vars/all.yml": "tiny_tree.r: 10\n",
                "presets/whole.yml": "preset_whole:\n  tiny_tree: {only: 1}\n",
            },
            ["-e", "@presets/whole.yml"],
            {"only": 1},
            "presets/whole.yml:2",
            id="a-whole-one-erases-leaves",
        ),
        pytest.param(
            {},
            ["-e", '{"tiny_tree": {"whole": 1}}', "-e", '{"tiny_tree.leaf": 2}'],
            {"whole": 1, "leaf": 2},
            "command line",
            id="whole-and-leaf-on-the-command-line",
        ),
    ],
)
def test_leaves_override_a_dictionary_of_a_lower_layer(
    project: Any, files: dict[str, str], arguments: list[str], tree: dict[str, Any], origin: str
) -> None:
    project.write("group_vars/all/tree.yml", "tiny_tree: {r: 1, inner: {alpha: 2}}\n")
    for name, text in files.items():
        project.write(name, text)

    assert project.run(*arguments).document["all"]["tiny_tree"] == {"value": tree, "origin": origin}
