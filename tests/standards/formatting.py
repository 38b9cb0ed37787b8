"""Every C++ file is as clang-format leaves it: `formatting.py ROOT`. scripts/format mends it."""
import subprocess

from common import files, run

FOLDERS = ["src", "tests", "fuzz", "bench"]


def check(root):
    findings = []
    for path in files(root, FOLDERS, [".h", ".cpp"]):
        formatted = subprocess.run(["clang-format", "--style=file", str(path)], stdout=subprocess.PIPE, check=True)
        if formatted.stdout != path.read_bytes():
            findings.append(f"{path.relative_to(root)}: not as clang-format leaves it; run scripts/format")
    return findings


if __name__ == "__main__":
    run(check)
