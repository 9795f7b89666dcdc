"""Saved estimators: arrays and a JSON header in one file, nothing that runs code when it is read."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

FORMAT, VERSION = "orthostream-estimator", 1


class SavedEstimatorError(ValueError):
    """A file is not a saved estimator, or is damaged, or is newer than this version understands."""


def write(path: str | os.PathLike[str], header: dict[str, Any], arrays: dict[str, Any]) -> None:
    """Write header and arrays; the file appears whole or not at all."""
    target = Path(path)
    header = {"format": FORMAT, "version": VERSION} | header
    text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    if not target.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {target.parent} to save {target.name} to.")
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez(file, header=text, **arrays)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(target.stat().st_mode & 0o777 if target.exists() else 0o644)
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return header and arrays of a saved estimator."""
    with Path(path).open("rb") as file:
        try:
            with np.load(file, allow_pickle=False) as archive:
                arrays = {name: archive[name] for name in archive.files}
            header = json.loads(arrays.pop("header").tobytes().decode())
            known = header["format"] == FORMAT and isinstance(header["version"], int)
        except Exception as error:  # a damaged archive fails in more ways than its reader documents
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
