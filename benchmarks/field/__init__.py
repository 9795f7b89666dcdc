"""Many kinds of streams, ours beside other compressors: `orthostream bench compression --field`."""
