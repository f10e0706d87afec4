"""The processes of a lab and what `lab.json` records of them."""
