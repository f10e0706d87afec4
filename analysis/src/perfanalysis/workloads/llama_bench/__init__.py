"""The kind of recordings of llama-bench, run directly or by ramalama bench."""
