"""Sites in every inventory format of Ansible, with the origin of each value."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.settings.files import VAULTED
from ansible_collections.psap.perf.plugins.module_utils.settings.layers import settle
from ansible_collections.psap.perf.plugins.module_utils.settings.site import Site
from ansible_collections.psap.perf.plugins.plugin_utils.settings.site_reader import read_site

INI = """\
[clusters]
sutest tune_gpus=2

[clusters:vars]
tune_name=cluster

[all:vars]
tune_name=everyone
tune_zone=a
"""
SCRIPT = """\
#!/bin/sh
echo '{"clusters": {"hosts": ["sutest"], "vars": {"tune_name": "script"}},
       "_meta": {"hostvars": {"sutest": {"tune_gpus": 3}}}}'
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a project with base group_vars."""
    for name, text in {"group_vars/all.yml": "tune_zone: base\n", "playbooks/tune.yml": "- hosts: all\n"}.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "playbooks" / "group_vars").symlink_to("../group_vars")
    return tmp_path


def site(root: Path, name: str, text: str, mode: int = 0o600) -> Site:
    """Write the file *name* of the inventory ``site`` and read the site."""
    path = root / "inventories" / "site" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    return read_site(root, str(path.parent))


def values(read: Site, host: str) -> dict[str, tuple[object, str]]:
    """Return each variable of *host* as (value, origin), without those that Ansible adds."""
    settled = settle(read.layers_of(host))
    return {name: (one.value, one.origin) for name, one in settled.items() if name.startswith("tune_")}


def test_ini_inventory_gives_values_with_file_and_line(root: Path) -> None:
    read = site(root, "hosts.ini", INI)

    assert sorted(read.hosts) == ["localhost", "sutest"]
    assert values(read, "sutest") == {
        "tune_zone": ("a", "inventories/site/hosts.ini:9"),
        "tune_name": ("cluster", "inventories/site/hosts.ini:5"),
        "tune_gpus": (2, "inventories/site/hosts.ini:2"),
    }
    assert values(read, "localhost")["tune_name"] == ("everyone", "inventories/site/hosts.ini:8")


def test_script_inventory_gives_values_of_groups_and_hosts(root: Path) -> None:
    found = values(site(root, "hosts", SCRIPT, 0o700), "sutest")

    assert [found[name][0] for name in ("tune_zone", "tune_name", "tune_gpus")] == ["base", "script", 3]
    assert found["tune_zone"][1] == "group_vars/all.yml:1"
    assert "inventory script output" in found["tune_gpus"][1]


def test_without_inventory_only_base_group_vars_apply(root: Path) -> None:
    read = read_site(root, None)

    assert list(read.hosts) == ["localhost"]
    assert values(read, "localhost")["tune_zone"] == ("base", "group_vars/all.yml:1")


def test_encrypted_values_and_files_are_not_decrypted(root: Path) -> None:
    vaulted = "$ANSIBLE_VAULT;1.1;AES256\n36613761\n"
    (root / "group_vars" / "clusters.yml").write_text(vaulted)
    inline = "".join(f"          {line}\n" for line in vaulted.splitlines())
    text = f"clusters:\n  hosts:\n    sutest:\n      tune_list:\n        - !vault |\n{inline}"

    found = values(site(root, "hosts.yml", text), "sutest")

    assert found["tune_list"][0] == [VAULTED]
    assert found["tune_zone"][0] == "base"


def test_broken_inventory_is_a_problem_with_the_reason(root: Path) -> None:
    read = site(root, "hosts.yml", "all: [a\n")

    assert "inventories/site/hosts.yml" in read.problem
    assert "YAML parsing failed" in read.problem


def test_unknown_host_names_the_known_hosts(root: Path) -> None:
    read = site(root, "hosts.ini", INI)

    with pytest.raises(UsageError, match="no host sutes; did you mean sutest"):
        read.layers_of("sutes")
    with pytest.raises(UsageError, match="no host other; its hosts are localhost, sutest"):
        read.layers_of("other")
