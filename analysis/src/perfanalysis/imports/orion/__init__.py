"""Files of orion: JSON into a history; configs and acknowledgements for `regress`."""
