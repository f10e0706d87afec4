"""Analysis of psap.perf runs: run directories → typed tables → measures → KPIs, plots and one HTML file."""
