"""Result trees of MatrixBenchmarking, with the test directories of TOPSAIL's commands."""
