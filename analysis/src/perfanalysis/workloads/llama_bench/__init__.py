"""The kind of recordings of llama-bench, by itself or by ramalama bench."""
