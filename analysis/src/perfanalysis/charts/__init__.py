"""Charts as data, and what draws them: matplotlib into PNG files, a small script into the HTML report."""
