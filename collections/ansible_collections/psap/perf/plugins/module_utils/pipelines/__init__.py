"""The commands of pipelines, without Ansible."""
