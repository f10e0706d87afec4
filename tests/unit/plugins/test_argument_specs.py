"""Arguments of verbs, declared by their documentation and its fragments."""

from __future__ import annotations

from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec


def test_only_checked_fields_are_kept_and_suboptions_become_options() -> None:
    documented = """
    options:
      things:
        description: Not checked.
        type: list
        elements: dict
        suboptions: {size: {description: Not checked., type: int, default: 1}}
    """
    spec = {"things": {"type": "list", "elements": "dict", "options": {"size": {"type": "int", "default": 1}}}}
    assert argument_spec(documented) == spec


def test_fragment_options_apply_and_can_be_overridden() -> None:
    documented = """
    extends_documentation_fragment: [psap.perf.query]
    options: {kind: {type: str, default: Pod}, timeout: {type: str, required: true}}
    """
    spec = argument_spec(documented)
    assert spec["api_version"] == {"type": "str"}
    assert spec["kind"] == {"type": "str", "default": "Pod"}
    assert set(spec) == {"kind", "api_version", "name", "namespace", "label_selector", "timeout"}


def test_omitted_dictionary_has_the_defaults_of_its_keys() -> None:
    documented = "options: {mix: {type: dict, suboptions: {size: {type: int, default: 1}}}}"
    spec = {"mix": {"type": "dict", "options": {"size": {"type": "int", "default": 1}}, "apply_defaults": True}}
    assert argument_spec(documented) == spec
