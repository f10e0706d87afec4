"""Sphinx's configuration for the pages that assembling.py writes. Nothing here needs a network."""

from __future__ import annotations

import re
from importlib.metadata import version as version_of

from docutils.nodes import Element, reference
from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

project = "psap.perf"
author = "The psap.perf developers"
copyright = author  # noqa: A001 - Sphinx's name
version = release = version_of("psap-perf")
language = "en"

extensions = [
    "myst_parser",
    "sphinx.ext.graphviz",
    "sphinx_antsibull_ext",
    "sphinx_copybutton",
    "docs.website.diagrams",
]
root_doc = "index"
nitpicky = True

myst_enable_extensions = ["fieldlist"]
# as deep as GitHub's own anchors that pages link to
myst_heading_anchors = 6
graphviz_output_format = "svg"

html_theme = "furo"
html_title = "psap.perf"
html_static_path = ["static"]
# the reports of the gallery
html_extra_path = ["extra"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
# a browser cannot fetch summaries from a site on disk
html_show_search_summary = False
pygments_style = "default"
pygments_dark_style = "github-dark"
copybutton_prompt_text = r"\$ "
copybutton_prompt_is_regexp = True

# antsibull-docs' references to Ansible's own documentation
_ANSIBLE = "https://docs.ansible.com/ansible/latest"
_OF_ANSIBLE = {
    "callback_plugins": f"{_ANSIBLE}/plugins/callback.html",
    "common_return_values": f"{_ANSIBLE}/reference_appendices/common_return_values.html",
}
_PLUGIN_OF_ANSIBLE = re.compile(r"ansible_collections\.ansible\.builtin\.(\w+_\w+)")


def _address(label: str) -> str | None:
    if plugin := _PLUGIN_OF_ANSIBLE.fullmatch(label):
        return f"{_ANSIBLE}/collections/ansible/builtin/{plugin[1]}.html"
    return _OF_ANSIBLE.get(label)


def _of_ansible(_app: Sphinx, _env: BuildEnvironment, node: Element, content: Element) -> Element | None:
    address = _address(node["reftarget"])
    return reference("", "", content, refuri=address, internal=False) if address else None


def setup(app: Sphinx) -> None:
    """Register references to Ansible's documentation, and `csv` as a language without highlighting."""
    app.connect("missing-reference", _of_ansible)
    app.add_lexer("csv", TextLexer)
