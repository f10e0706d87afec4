# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""A model that was downloaded to a PersistentVolumeClaim, in a folder named after its source."""

from __future__ import annotations

import re

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError

_SOURCE = re.compile(r"(?:hf|s3)://(.*[^/])/*")


def in_claim(uri: str, claim: str) -> str:
    """Return KServe's URI of a model in a claim: ``pvc://<claim>/<folder>``.

    A revision, ``hf://org/model:revision``, has a separate folder.

    Raises:
        UsageError: If the model's source is not a folder that can be downloaded.
    """
    source = _SOURCE.fullmatch(uri)
    if source is None:
        raise UsageError(
            f"{uri!r} cannot be downloaded to PersistentVolumeClaim {claim}; pass the model's source, hf:// or s3://"
        )
    return f"pvc://{claim}/{re.sub('[^A-Za-z0-9_./-]+', '-', source[1])}"
