"""The path of samples to frames and back: what is pushed, the frames, the header, the times."""
