"""Fine-tuning jobs: measures from the trainers' logs, compared over the cells of a matrix."""
