"""The commands of one page work: `docs_commands.py ROOT PAGE PROGRAMS`. PROGRAMS is the folder of the built programs.

    ```sh        run, all blocks of the page in one bash -e -o pipefail, in a fresh empty folder, with PROGRAMS on PATH
                 and ONCEOVER_HOME = ROOT
    ```text      directly after such a block: its standard output, where a line "…" stands for any number of lines
    ```sh setup  not run, because it builds or installs; each line must be a script of the repository with options that
                 its --help names, or cmake or ctest with a preset that exists, or the line that puts build/release on PATH

Every other block must be tagged with one of the languages below, so that no command hides in it.
"""
import json
import os
import re
import shlex
import subprocess
import tempfile
from pathlib import Path

from common import fences, run

SHOWN = {"text", "json", "cpp", "toml", "cmake", "diff"}
PATH_LINE = 'export PATH="$PWD/build/release:$PATH"'
TIMEOUT_S = 300


def check_preset(root, words):
    """Why a cmake or ctest command is refused, or None."""
    kind = {"cmake": "configurePresets", "ctest": "testPresets"}[words[0]]
    if "--build" in words:
        kind = "buildPresets"
    name = words[words.index("--preset") + 1] if "--preset" in words[:-1] else None
    known = [preset["name"] for preset in json.loads((root / "CMakePresets.json").read_text())[kind]]
    return None if name in known else f"expected --preset with one of {', '.join(known)}"


def check_script(root, words):
    """Why a script of the repository is refused, or None."""
    script = (root / words[0]).resolve()
    if root not in script.parents or not os.access(script, os.X_OK):
        return f"expected ./run, ./test, another script of the repository, cmake or ctest, found '{words[0]}'"
    options = [word for word in words[1:] if word.startswith("-")]
    if options:
        described = subprocess.run([script, "--help"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                   timeout=TIMEOUT_S)
        unknown = [o for o in options if not re.search(re.escape(o) + r"(?![\w-])", described.stdout)]
        if described.returncode != 0 or unknown:
            return f"{words[0]} --help does not name {', '.join(unknown) or 'anything'}"
    return None


def check_setup_line(root, line):
    if line == PATH_LINE:
        return None
    for command in line.split("&&"):
        words = shlex.split(command, comments=True)
        if not words:
            continue
        reason = check_preset(root, words) if words[0] in ("cmake", "ctest") else check_script(root, words)
        if reason:
            return reason
    return None


def fits(expected, found):
    """Whether lines `found` are lines `expected`, where "…" stands for any lines. Trailing spaces do not count."""
    pattern = "".join(r"(?:.*\n)*?" if line.strip() == "…" else re.escape(line.rstrip()) + r"\s*?\n" for line in expected)
    return re.fullmatch(pattern, "".join(line.rstrip() + "\n" for line in found)) is not None


def run_blocks(root, programs, blocks):
    """Runs blocks in one shell. Returns its exit status, its messages, and each block's standard output."""
    with tempfile.TemporaryDirectory(prefix="onceover-docs-") as folder:
        home, outputs = Path(folder, "here"), Path(folder, "outputs")
        home.mkdir()
        outputs.mkdir()
        script = "".join(f"exec >{shlex.quote(str(outputs / str(i)))}\n{block.text}" for i, block in enumerate(blocks))
        environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "ONCEOVER_HOME": str(root)}
        result = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", script], cwd=home, env=environment, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                timeout=TIMEOUT_S)
        texts = [(outputs / str(i)).read_text() if (outputs / str(i)).exists() else None for i in range(len(blocks))]
        return result.returncode, result.stderr, texts


def check_runs(root, name, programs, blocks):
    """Runs the page's sh blocks and compares the text blocks that follow them."""
    commands = [block for block in blocks if block.info == "sh"]
    if not commands:
        return []
    status, messages, outputs = run_blocks(root, programs, commands)
    if status != 0:
        last = max(i for i, output in enumerate(outputs) if output is not None)
        return [f"{name}:{commands[last].line}: exit status {status} in this block\n{messages}"]
    findings = []
    for block, following in zip(blocks, blocks[1:]):
        if block.info == "sh" and following.info == "text" and following.line <= block.end + 2:
            output = outputs[commands.index(block)]
            if not fits(following.lines, output.splitlines()):
                findings.append(f"{name}:{following.line}: the output differs; it was:\n{output}")
    return findings


def check(root, page, programs):
    name, blocks = page, fences((root / page).read_text())
    findings = []
    for block in blocks:
        if block.info == "sh setup":
            reasons = [(line, check_setup_line(root, line)) for line in block.lines]
            findings += [f"{name}:{block.line}: {line}: {reason}" for line, reason in reasons if reason]
        elif block.info != "sh" and block.info not in SHOWN:
            findings.append(f"{name}:{block.line}: a block tagged '{block.info}'; expected sh, sh setup or one of "
                            f"{', '.join(sorted(SHOWN))}")
    return findings + check_runs(root, name, programs, blocks)


if __name__ == "__main__":
    run(check)
