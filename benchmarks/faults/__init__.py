"""Faults of machines, disks, networks and clocks, for `orthostream bench link --faults`."""
