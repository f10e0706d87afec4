"""One static page over a history: every KPI of every test over time, with verdicts, versions and links to reports."""
