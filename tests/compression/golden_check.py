"""Decodes every golden file, and encodes those with a bound again, in plain code; prints their checksums as JSON.

A program of its own, so that it can run with other instructions, or on another machine, than the tests do. Its exit
status is 1 if anything is not as it was written.
"""

from __future__ import annotations

import json
import platform
import sys


def main() -> int:
    from golden_streams import FOLDER, cases, checksum

    from orthostream.compression import compress, decompress

    known = json.loads((FOLDER / "checksums.v1.json").read_text(encoding="utf-8"))
    result: dict[str, int | str] = {}
    for name, (rows, words) in cases().items():
        data = (FOLDER / f"{name}.v1.ost").read_bytes()
        bounded = "max_error" in words or "relative_error" in words
        same = not bounded or compress(rows, version=1, **words) == data
        result[name] = checksum(decompress(data)) if same else "other bytes"
    sys.stdout.write(json.dumps(result) + "\n")
    different = [name for name in known.keys() | result.keys() if known.get(name) != result.get(name)]
    sys.stderr.write(f"{platform.machine()}: {len(result)} golden files, {len(different)} differ {different}\n")
    return 1 if different else 0


if __name__ == "__main__":
    # Before the package is imported: without Numba the plain code runs.
    sys.modules["numba"] = None  # type: ignore[assignment]
    sys.exit(main())
