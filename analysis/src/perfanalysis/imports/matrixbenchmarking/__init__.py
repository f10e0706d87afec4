"""Result trees of MatrixBenchmarking, with the test directories that TOPSAIL's commands left in them."""
