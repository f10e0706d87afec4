"""Tests of the kind fine-tuning."""
