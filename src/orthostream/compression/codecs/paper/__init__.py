"""Example 1 of the paper: sparse codes in a learnt dictionary, which is sent as angles."""
