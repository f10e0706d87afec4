"""Analysis of psap.perf runs: from run directories to typed tables, measures, KPIs, plots and one HTML file."""
