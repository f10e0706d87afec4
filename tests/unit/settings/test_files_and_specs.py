"""Reading declarations: every error has a line, and options equal those of the collection's own validator."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.settings.files import read_yaml_file
from ansible_collections.psap.perf.plugins.module_utils.settings.specs import read_command, read_flow

SPEC = """\
argument_specs:
  main:
    short_description: Look at nodes
    description: [First., Second.]
    options:
      nfd_look_labels:
        description: Which.
        type: list
        elements: str
        choices: [a, b]
      nfd_look_tree:
        description: Nested.
        type: dict
        options:
          depth: {type: int, default: 2, description: How deep.}
"""


# A few hundred bytes that expand to a hundred million values
ALIAS_BOMB = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n" + "".join(
    f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]\n" for level in range(1, 9)
)
MERGE_BOMB = "a0: &a0 {k: 1}\n" + "".join(
    f"a{level}: &a{level} {{<<: [{', '.join([f'*a{level - 1}'] * 10)}]}}\n" for level in range(1, 9)
)


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_every_node_has_its_line(tmp_path: Path) -> None:
    file = read_yaml_file(write(tmp_path / "a.yml", "one: 1\ntwo:\n  three: 3\n  four: [5,\n    6]\n"), tmp_path)

    assert file.data == {"one": 1, "two": {"three": 3, "four": [5, 6]}}
    assert str(file.where("two")) == "a.yml:2"
    assert str(file.where("two", "four", 1)) == "a.yml:5"
    assert str(file.where("two", "nothing")) == "a.yml:2"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb: {c: 1, c: 2}\n", "a.yml:2: duplicate key c, first in line 2"),
        ("a: 1\n b: 2\n", "a.yml:2: not YAML"),
        ("a: &a\n  - [*a]\n", "a.yml:2: an alias includes itself"),
        (f"a: {'[' * 150}{']' * 150}\n", "a.yml:1: nested more than 100 levels deep"),
        (f"a: {'[' * 200_000}\n", "a.yml:1: nested more than 100 levels deep"),
        (ALIAS_BOMB, "a.yml:6: expands to more than 1000000 values by its aliases"),
        (MERGE_BOMB, "a.yml:7: expands to more than 1000000 values by its aliases"),
        ("- a\n", "a.yml:1: must be a mapping of names to values, but is a list"),
        ("? [a]\n: b\n", "a.yml:1: a key must be a plain word"),
    ],
)
def test_unreadable_file_is_reported_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_yaml_file(write(tmp_path / "a.yml", text), tmp_path)

    assert str(caught.value).startswith(message)


def test_anchors_are_merged_and_vaulted_values_hidden(tmp_path: Path) -> None:
    merged = "base: &base {a: 1}\nmore:\n  <<: *base\n  b: 2\n"
    text = merged + "secret: !vault |\n  $ANSIBLE_VAULT;1.1\nraw: !unsafe '{{ x }}'\n"

    data = read_yaml_file(write(tmp_path / "a.yml", text), tmp_path).data

    assert data == {"base": {"a": 1}, "more": {"a": 1, "b": 2}, "secret": "(vaulted)", "raw": "{{ x }}"}


def test_encrypted_file_reveals_nothing(tmp_path: Path) -> None:
    assert read_yaml_file(write(tmp_path / "a.yml", "$ANSIBLE_VAULT;1.1;AES256\n3132\n"), tmp_path).data == {}


def test_command_equals_its_argument_spec(tmp_path: Path) -> None:
    write(tmp_path / "roles/nfd_look/meta/argument_specs.yml", SPEC)

    command = read_command(tmp_path / "roles" / "nfd_look", tmp_path)

    labels, tree = command.arguments
    assert (command.role, command.short_description) == ("nfd_look", "Look at nodes")
    assert command.description == ("First.", "Second.")
    assert (labels.short_name, labels.type, labels.elements, labels.choices) == ("labels", "list", "str", ("a", "b"))
    assert str(labels.where) == "roles/nfd_look/meta/argument_specs.yml:6"
    assert [(one.name, one.type, one.default) for one in tree.options] == [("depth", "int", 2)]
    assert command.argument("nfd_look_tree") == tree


def test_command_has_the_arguments_of_its_shared_dependencies(tmp_path: Path) -> None:
    write(tmp_path / "roles/nfd_look/meta/argument_specs.yml", SPEC)
    shared = "argument_specs: {main: {options: {shared_nfd_timeout: {type: str, default: 1m}}}}\n"
    write(tmp_path / "roles/shared_nfd/meta/argument_specs.yml", shared)
    dependencies = "dependencies:\n  - role: psap.perf.command\n  - role: psap.perf.shared_nfd\n"
    write(tmp_path / "roles/nfd_look/meta/main.yml", dependencies)

    command = read_command(tmp_path / "roles/nfd_look", tmp_path)

    assert [(one.name, one.short_name) for one in command.arguments] == [
        ("nfd_look_labels", "labels"),
        ("nfd_look_tree", "tree"),
        ("shared_nfd_timeout", "timeout"),
    ]
    assert command.own_arguments == command.arguments[:2]


def test_note_for_ansible_doc_is_not_in_the_description_of_a_command(tmp_path: Path) -> None:
    note = "Accepts the arguments of P(psap.perf.shared_nfd#role) too."
    spec = f"argument_specs: {{main: {{description: [Waits for labels., {note}], options: {{}}}}}}\n"
    write(tmp_path / "roles/nfd_look/meta/argument_specs.yml", spec)
    assert read_command(tmp_path / "roles/nfd_look", tmp_path).description == ("Waits for labels.",)


def test_flow_declares_dimensions_secrets_and_rules(tmp_path: Path) -> None:
    path = write(
        tmp_path / "playbooks/tune/settings.yml",
        "options:\n"
        "  tune_gpus: {type: int, dimension: true, compare: key, description: x}\n"
        "  tune_tree: {type: dict, dimension: [r, lora.alpha], description: x}\n"
        "  tune_token: {no_log: true, description: x}\n"
        "rules:\n  - {assert: tune_gpus > 0, message: some}\n",
    )

    flow = read_flow(path, tmp_path)

    gpus, tree, token = flow.settings
    assert gpus.varies
    assert gpus.compare == "key"
    assert not tree.varies
    assert tree.dimension == ("r", "lora.alpha")
    assert token.secret
    assert token.type == "str"
    assert [(rule.test, str(rule.where)) for rule in flow.rules] == [("tune_gpus > 0", "playbooks/tune/settings.yml:6")]


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ("{type: integer, description: x}", "the type of tune_x must be one of str, int"),
        ("{typ: int, description: x}", "tune_x has the unknown key typ"),
        ("{type: list, dimension: true, description: x}", "dimension of tune_x must list the dotted leaves"),
        ("{type: int, dimension: [a], description: x}", "dimension of tune_x must be true, or for a dict"),
        ("{compare: no, description: x}", "compare of tune_x must be one of key, ignore"),
        ("text", "tune_x must be declared by a mapping"),
    ],
)
def test_meaningless_declaration_is_refused(tmp_path: Path, declared: str, message: str) -> None:
    path = write(tmp_path / "playbooks/tune/settings.yml", f"options:\n  tune_x: {declared}\n")

    with pytest.raises(UsageError) as caught:
        read_flow(path, tmp_path)

    assert str(caught.value).startswith("playbooks/tune/settings.yml:2: ")
    assert message in str(caught.value)


def test_keys_and_values_marked_unsafe_by_awx_are_read(tmp_path: Path) -> None:
    path = tmp_path / "extravars"
    path.write_text("!unsafe 'count': !unsafe '16'\n")
    assert read_yaml_file(path, tmp_path).data == {"count": "16"}
