"""Tests of what works on hosts that Ansible reaches."""
