"""Reaching a cluster: what is no kubeconfig is said to be none, in one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.psap.perf.plugins.module_utils.cluster import Access, load_configuration
from ansible_collections.psap.perf.plugins.module_utils.errors import ClusterError


@pytest.mark.parametrize("content", ["just a text", "[1, 2]", "", "clusters: 4", "a: ["])
def test_a_file_that_is_no_kubeconfig_is_refused_by_name(content: str, tmp_path: Path) -> None:
    path = tmp_path / "kubeconfig"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ClusterError, match=rf"(?s)no usable kubeconfig \({path}\): .*; set KUBECONFIG"):
        load_configuration(Access(kubeconfig=str(path)))


def test_so_is_a_folder(tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match="no usable kubeconfig"):
        load_configuration(Access(kubeconfig=str(tmp_path)))
