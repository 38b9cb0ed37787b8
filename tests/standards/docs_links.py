"""Every link inside the documentation leads somewhere: `docs_links.py ROOT`.

A link to a file must name one that exists; "page.md#heading" must name a heading of that page. A page that a comment in
src or tests names ("docs/design.md") must exist too. Links to the web are not followed.
"""
import re

from common import files, pages, run, without_fences

LINK = re.compile(r"\]\(([^)\s]+)\)")
MENTION = re.compile(r"\bdocs/[\w./-]+\.md\b")


def anchors(path):
    """The headings of a page as GitHub names them: lower case, spaces to hyphens, other signs dropped."""
    headings = [line.lstrip("#").strip() for line in without_fences(path.read_text()) if re.match(r"#+ ", line)]
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def check_link(root, page, link):
    """Why the link is broken, or None."""
    if re.match(r"[a-z]+:", link):
        return None
    name, _, anchor = link.partition("#")
    target = (page.parent / name).resolve() if name else page
    if root not in target.parents and target != root:
        return "leads out of the repository"
    if not target.exists():
        return "no such file"
    if anchor and anchor not in anchors(target):
        return f"no heading '{anchor}' there"
    return None


def check(root):
    findings = []
    for page in pages(root):
        for number, line in enumerate(without_fences(page.read_text()), 1):
            for link in LINK.findall(line):
                reason = check_link(root, page, link)
                if reason:
                    findings.append(f"{page.relative_to(root)}:{number}: link '{link}': {reason}")
    for path in files(root, ["src", "tests"], [".h", ".cpp", ".cmake"]):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            for mention in MENTION.findall(line):
                if not (root / mention).exists():
                    findings.append(f"{path.relative_to(root)}:{number}: names {mention}: no such file")
    return findings


if __name__ == "__main__":
    run(check)
