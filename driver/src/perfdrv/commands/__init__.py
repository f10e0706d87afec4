"""The commands of `perfdrv`, each imported when it is used."""
