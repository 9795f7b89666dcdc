"""Benchmarks: each prints ratios against peers that are measured in the same run."""
