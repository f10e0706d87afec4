"""Tests of work on hosts that Ansible reaches."""
