#!/usr/bin/env python3
"""README.md, CONTRIBUTING.md and docs/*.md agree with the tree (one line per offence, exit status 1):

 * every C++ and TOML block stands verbatim in a file that is built, run or read by tests;
 * README.md has at most 130 lines; no line of README.md and docs/ has more than 120 columns, but rows of tables and URLs;
 * every relative link, with the heading it names, and every path to a source or page in backquotes exists."""
import pathlib, re, sys

PLACES = {
    "cpp": ["apps/examples/*.?pp", "apps/examples/*/*.cpp", "tests/apps/examples/*.cpp"],
    "toml": ["apps/workloads/**/*.toml"],
}
MOST_LINES, MOST_COLUMNS = 130, 120
root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
readme = root / "README.md"
pages = [readme, root / "CONTRIBUTING.md", *sorted((root / "docs").glob("*.md"))]
sources = {language: [f.read_text() for p in patterns for f in root.glob(p)] for language, patterns in PLACES.items()}


def blocks(text):
    return re.findall(r"^```(cpp|toml)\n(.*?)^```$", text, re.M | re.S)


def prose(text):
    """Without blocks of code, of which no line is a link or a heading."""
    return re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)


def anchors(text):
    """Of the headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", prose(text), re.M)
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}


def strays(text):
    for language, block in blocks(text):
        if not any(block in source for source in sources[language]):
            yield f"this block is in none of {', '.join(PLACES[language])}:\n{block}"


def long_lines(page, text):
    lines = text.splitlines()
    if page == readme and len(lines) > MOST_LINES:
        yield f"{len(lines)} lines, at most {MOST_LINES} are allowed"
    if page != root / "CONTRIBUTING.md":
        for number, line in enumerate(lines, 1):
            if len(line) > MOST_COLUMNS and not line.startswith("|") and "://" not in line:
                yield f"line {number} has {len(line)} columns, at most {MOST_COLUMNS} are allowed"


def broken_links(page, text):
    for link in re.findall(r"\]\(([^)\s]+)\)", prose(text)):
        if "://" in link:
            continue
        file, _, anchor = link.partition("#")
        target = page.parent / file if file else page
        if not target.exists():
            yield f"the link to {link} leads nowhere"
        elif anchor and anchor not in anchors(target.read_text()):
            yield f"the link to {link} names no heading of that page"


def missing_paths(text):
    for path in re.findall(r"`([\w.-]+(?:/[\w.-]+)+\.(?:hpp|cpp|md|toml|py))`", prose(text)):
        if not (root / path).exists():
            yield f"there is no {path}"


def offences(page):
    text = page.read_text()
    for offence in [*strays(text), *long_lines(page, text), *broken_links(page, text), *missing_paths(text)]:
        yield f"{page.relative_to(root)}: {offence}"


found = [offence for page in pages for offence in offences(page)]
count = sum(len(blocks(page.read_text())) for page in pages)
print(*found, f"{len(pages)} pages, {count} blocks, {len(found)} offences", sep="\n")
sys.exit(bool(found) or not count)
