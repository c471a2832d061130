"""What the scripts that plant defects have in common."""
import argparse, collections, pathlib

TREE = pathlib.Path(__file__).resolve().parents[2]
PATIENCE_S = 300   # of a test that has no limit of its own: a defect may make it hang


def can_be_planted(tree, defects, texts_of):
    """An exit status. Names defects that cannot be: each of their texts has to be once in their file."""
    wrong = [f"{d.name}: {d.file} does not have {text!r} exactly once" for d in defects for text in texts_of(d)
             if not (tree / d.file).is_file() or (tree / d.file).read_text().count(text) != 1]
    wrong += [f"{name}: is there twice" for name, n in collections.Counter(d.name for d in defects).items() if n > 1]
    print(*wrong, f"{len(defects)} defects", sep="\n")
    return 1 if wrong else 0


def numbered(defects, only):
    """Those that are chosen."""
    return [(n, d) for n, d in enumerate(defects, start=1) if not only or str(n) in only.split(",")]


def say(number, d, found, seconds):
    print(f"{number:3} {d.name}: {f'found by {found}' if found else 'NOT FOUND'}, {seconds:.0f} s", flush=True)


def parsers(description):
    """The whole one, that of its commands, for more of them, and that of `run`, for more options."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("check").add_argument("tree", nargs="?", type=pathlib.Path, default=TREE)
    run = commands.add_parser("run")
    run.add_argument("build", type=pathlib.Path)
    run.add_argument("--only", metavar="N,N,...", help="numbers of defects, and nothing else")
    return parser, commands, run
