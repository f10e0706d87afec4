"""Charts as data, what draws them, blocks of a page, Markdown, the shell of a page. Knows no runs."""
