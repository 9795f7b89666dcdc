"""Detectors of novel documents, compared on labelled collections."""
