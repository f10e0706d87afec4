"""Settings: what is declared, the layers that give values, and what is wrong with them."""
