"""Saved estimators: arrays and a JSON header in one file; reading it runs no code from it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from orthostream._whole_file import whole_file

FORMAT, VERSION = "orthostream-estimator", 2


class SavedEstimatorError(ValueError):
    """A file is not a saved estimator, or is damaged, or is newer than this version understands."""


def write(path: str | os.PathLike[str], header: dict[str, Any], arrays: dict[str, Any]) -> None:
    """Write header and arrays; the file is written completely or not at all."""
    header = {"format": FORMAT, "version": VERSION} | header
    text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    with whole_file(path) as temporary, temporary.open("wb") as file:
        np.savez(file, header=text, **arrays)


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return header and arrays of a saved estimator."""
    with Path(path).open("rb") as file:
        try:
            with np.load(file, allow_pickle=False) as archive:
                arrays = {name: archive[name] for name in archive.files}
            header = json.loads(arrays.pop("header").tobytes().decode())
            known = header["format"] == FORMAT and isinstance(header["version"], int)
        except Exception as error:  # np.load does not document all its errors on damaged files
            raise SavedEstimatorError(
                f"{os.fspath(path)} is not a saved orthostream estimator, or is damaged."
            ) from error
    if not known:
        raise SavedEstimatorError(f"{os.fspath(path)} is not a saved orthostream estimator.")
    if header["version"] > VERSION:
        raise SavedEstimatorError(
            f"{os.fspath(path)} has format version {header['version']}; this orthostream reads up to {VERSION}."
        )
    return header, arrays
