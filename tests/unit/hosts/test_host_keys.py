"""Advice on a host key that ssh refuses."""

from __future__ import annotations

from ansible_collections.psap.perf.plugins.module_utils.hosts.host_keys import SshTarget, advice, is_refused_key

# Output of OpenSSH 9.2
CHANGED = """@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @
IT IS POSSIBLE THAT SOMEONE IS DOING SOMETHING NASTY!
Add correct host key in /home/me/.ssh/known_hosts to get rid of this message.
Offending ED25519 key in /home/me/.ssh/known_hosts:3
Host key for [10.0.0.1]:2222 has changed and you have requested strict checking.
Host key verification failed."""
CONFIGURATION = """host bench
user perf
hostname 10.0.0.1
port 2222
userknownhostsfile /home/me/.ssh/known_hosts /home/me/.ssh/known_hosts2
"""


def test_unknown_host_key_is_reported_with_its_file_and_remedy() -> None:
    target = SshTarget.from_configuration(CONFIGURATION)

    message = advice("Host key verification failed.", target)

    assert "[10.0.0.1]:2222 is not in /home/me/.ssh/known_hosts;" in message
    assert "ssh-keyscan -p 2222 10.0.0.1" in message


def test_changed_host_key_is_reported_with_the_former_ones_file() -> None:
    message = advice(CHANGED, SshTarget("[10.0.0.1]:2222", ("/elsewhere",)))

    assert "ssh-keygen -R '[10.0.0.1]:2222' -f /home/me/.ssh/known_hosts)" in message
    assert "/elsewhere" not in message


def test_host_key_is_looked_up_by_alias_without_default_port() -> None:
    usual = SshTarget.from_configuration("hostname a.example.com\nport 22\nuserknownhostsfile /k")
    alias = SshTarget.from_configuration("hostname a\nport 2222\nhostkeyalias site\nuserknownhostsfile /k")

    assert (usual.name, alias.name) == ("a.example.com", "site")
    assert "ssh-keyscan -p 22 a.example.com" in advice("Host key verification failed.", usual)


def test_other_ssh_errors_are_not_about_a_host_key() -> None:
    assert not is_refused_key("ssh: connect to host 10.0.0.1 port 22: Connection refused")
    assert is_refused_key(CHANGED)
