"""Charts as data, their renderers, blocks and shell of a page, Markdown. Independent of runs."""
