"""Decodes every golden file, and encodes those with a bound again, in plain code; prints their checksums as JSON.

A program of its own, so that it can run with other instructions, or on another machine, than the tests do. Its exit
status is 1 if anything is not as it was written.
"""

from __future__ import annotations

import json
import platform
import sys


def main() -> int:
    from golden_streams import FOLDER, all_cases, checksum

    from orthostream.compression import compress, decompress

    result: dict[str, int | str] = {}
    known: dict[str, int] = {}
    for version, cases in all_cases().items():
        sums = json.loads((FOLDER / f"checksums.v{version}.json").read_text(encoding="utf-8"))
        known |= {f"{name}.v{version}": value for name, value in sums.items()}
        for name, (rows, words) in cases.items():
            data = (FOLDER / f"{name}.v{version}.ost").read_bytes()
            bounded = "max_error" in words or "relative_error" in words
            same = not bounded or compress(rows, version=version, **words) == data
            result[f"{name}.v{version}"] = checksum(decompress(data)) if same else "other bytes"
    sys.stdout.write(json.dumps(result) + "\n")
    different = [name for name in known.keys() | result.keys() if known.get(name) != result.get(name)]
    sys.stderr.write(f"{platform.machine()}: {len(result)} golden files, {len(different)} differ {different}\n")
    return 1 if different else 0


if __name__ == "__main__":
    # Before the package is imported: without Numba the plain code runs.
    sys.modules["numba"] = None  # type: ignore[assignment]
    sys.exit(main())
