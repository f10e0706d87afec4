"""Tests of users as pods."""
