"""What the checks of this folder share: finding files, and reporting.

A check is a program `NAME.py ROOT [argument…]` whose function `check(root, …)` returns one line per finding. It prints
them and exits 1 when there are any. standards_test.py plants a breach of each rule and expects the finding.
"""
import re
import sys
from pathlib import Path


def files(root, folders, suffixes=None):
    """Files below the folders (or the folders themselves where they are files), sorted; suffixes None = every file."""
    found = set()
    for folder in folders:
        path = Path(root) / folder
        candidates = path.rglob("*") if path.is_dir() else [path]
        found |= {f for f in candidates if f.is_file() and "__pycache__" not in f.parts}
    return sorted(f for f in found if suffixes is None or f.suffix in suffixes)


def pages(root):
    """The pages of the documentation."""
    return files(root, ["README.md"]) + files(root, ["docs"], [".md"])


class Fence:
    """A fenced block of a page: its info string ("sh setup"), its text, and the line of its opening fence."""

    def __init__(self, info, line):
        self.info, self.line, self.lines, self.end = info, line, [], line

    @property
    def text(self):
        return "".join(line + "\n" for line in self.lines)


def fences(text):
    """The fenced blocks of a page, in order."""
    blocks, open_block = [], None
    for number, line in enumerate(text.splitlines(), 1):
        if open_block is None and line.startswith("```"):
            open_block = Fence(line[3:].strip(), number)
        elif open_block is not None and line.rstrip() == "```":
            open_block.end = number
            blocks.append(open_block)
            open_block = None
        elif open_block is not None:
            open_block.lines.append(line)
    if open_block is not None:
        raise ValueError(f"line {open_block.line}: the block that starts here never ends")
    return blocks


def without_fences(text):
    """The page with its fenced blocks blanked, line numbers kept."""
    lines = text.splitlines()
    for block in fences(text):
        lines[block.line - 1:block.end] = [""] * (block.end - block.line + 1)
    return lines


def run(check, *extra):
    """The main program of a check."""
    root = Path(sys.argv[1]).resolve()
    findings = check(root, *sys.argv[2:], *extra)
    for finding in findings:
        print(finding)
    sys.exit(1 if findings else 0)


def without_comment(line):
    return re.sub(r"//.*", "", line)
