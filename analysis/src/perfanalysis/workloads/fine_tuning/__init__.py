"""Fine-tuning jobs: what the trainers wrote into their logs, measured, and compared over the cells of a matrix."""
