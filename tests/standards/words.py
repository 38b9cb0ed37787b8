"""Words that are never committed: notes to oneself, and paths of one machine: `words.py ROOT`."""
import re

from common import files, run

PLACES = ["src", "tests", "fuzz", "bench", "configs", "docs", "scripts", "cmake", ".ci", "run", "test", "README.md",
          "CMakeLists.txt", "CMakePresets.json"]
# In pieces, so that this file may hold the rule.
FORBIDDEN = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X)\b|(?<![\w.])/(wo" + r"rk|home|root|tmp/br" + r"ief)/")


def check(root):
    findings = []
    for path in files(root, PLACES):
        text = path.read_bytes().decode("utf-8", errors="replace")
        for number, line in enumerate(text.splitlines(), 1):
            found = FORBIDDEN.search(line)
            if found:
                findings.append(f"{path.relative_to(root)}:{number}: '{found.group()}' does not belong here")
    return findings


if __name__ == "__main__":
    run(check)
