"""Every C++ file is as clang-format leaves it: `formatting.py ROOT`. scripts/format mends it."""
import subprocess
from pathlib import Path

from common import files, run

FOLDERS = ["src", "tests", "fuzz", "bench"]


def check(root):
    paths = files(root, FOLDERS, [".h", ".cpp"])
    if not paths:
        return ["no C++ file to check"]
    # One process for all: starting it takes longer than a file.
    result = subprocess.run(["clang-format", "--style=file", "--dry-run", "-Werror", *map(str, paths)],
                            stderr=subprocess.PIPE, text=True)
    unformatted = sorted({line.split(":")[0] for line in result.stderr.splitlines() if ": error:" in line})
    if result.returncode != 0 and not unformatted:
        return [result.stderr]
    return [f"{Path(path).relative_to(root)}: not as clang-format leaves it; run scripts/format" for path in unformatted]


if __name__ == "__main__":
    run(check)
