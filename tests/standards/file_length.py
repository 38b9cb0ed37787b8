"""No file of src is over 400 lines without its reason: `file_length.py ROOT`."""
from common import files, run

MOST_LINES = 400
HEAD_LINES = 15
REASON = "Over 400 lines because"


def check(root):
    findings = []
    for path in files(root, ["src"], [".h", ".cpp"]):
        lines = path.read_text().splitlines()
        if len(lines) > MOST_LINES and not any(REASON in line for line in lines[:HEAD_LINES]):
            findings.append(f'{path.relative_to(root)}: {len(lines)} lines, more than {MOST_LINES}, and no '
                            f'"{REASON} …" in its first {HEAD_LINES}')
    return findings


if __name__ == "__main__":
    run(check)
