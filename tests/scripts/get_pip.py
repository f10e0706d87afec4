"""Install pip into an environment without it, from PyPI, as the bootstrap script of ansible-test would.

Its arguments are those of get-pip.py; only the requirement, ``pip==VERSION``, has an effect.
"""

from __future__ import annotations

import subprocess
import sys

subprocess.run([sys.executable, "-m", "ensurepip"], check=True, stdout=subprocess.DEVNULL)
requirements = [word for word in sys.argv[1:] if "==" in word]
install = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *requirements]
sys.exit(subprocess.run(install, check=False).returncode)
