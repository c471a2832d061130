#!/usr/bin/env python3
"""What `hydra tokenize` reads of Parquet files that apps/python/parquet_to_jsonl.py has converted, and what that refuses.

    read_parquet.py HYDRA

Exits with 77 where pyarrow is not installed.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

try:
    import pyarrow
    import pyarrow.parquet
except ImportError as missing:
    print(f"skipped: {missing}; tests/python/setup installs what is needed")
    sys.exit(77)

CONVERTER = pathlib.Path(__file__).resolve().parents[2] / "apps/python/parquet_to_jsonl.py"


def require(holds, what):
    if not holds:
        sys.exit(f"FAILED: {what}")


def convert(*arguments):
    return subprocess.run([sys.executable, CONVERTER, *map(str, arguments)], capture_output=True, text=True, check=False)


def talk(i):
    return {"messages": [{"role": "user", "content": f"Frage {i} \u00e4\n"}, {"role": "assistant", "content": "x" * (i % 7 + 1)}],
            "score": i / 2, "id": i}


def write(path, first, count):
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist([talk(i) for i in range(first, first + count)]), path,
                                row_group_size=1000)
    return path


def check_conversion(hydra, folder):
    files = [write(folder / "a.parquet", 0, 5000), write(folder / "b.parquet", 5000, 10)]
    output = folder / "talks.jsonl"
    done = convert(*files, "--output", output, "--columns", "messages", "id")
    require(done.returncode == 0 and "5010 rows" in done.stdout, done)
    rows = [json.loads(line) for line in output.read_text().splitlines()]
    require(rows == [{k: talk(i)[k] for k in ("messages", "id")} for i in range(5010)], "rows differ")
    packed = folder / "talks.jsonl.gz"
    require(convert(*files, "--output", packed).returncode == 0, "no .gz")
    learnt = folder / "tokenizer.json"
    text = folder / "text.txt"
    text.write_text("some text to learn from, some text\n" * 10)
    subprocess.run([hydra, "tokenize", text, "--train", "270", "--special", "<|im_start|>", "--special", "<|im_end|>",
                    "--output", learnt], capture_output=True, check=True)
    seen = [subprocess.run([hydra, "tokenize", f, "--tokenizer", learnt, "--template", "chatml", "--json"],
                           capture_output=True, check=True).stdout for f in (output, packed)]
    require(seen[0] == seen[1] and seen[0].count(b"\n") == 5010, "the packed file reads otherwise")


def check_refusals(folder):
    good = folder / "a.parquet"
    output = folder / "out.jsonl"
    broken, cut, other = folder / "broken.parquet", folder / "cut.parquet", folder / "text.parquet"
    data = good.read_bytes()
    broken.write_bytes(data[:200] + bytes(b ^ 0xFF for b in data[200:5000]) + data[5000:])
    cut.write_bytes(data[:-7])
    other.write_text("no Parquet at all")
    for arguments, expected in (((broken,), "broken.parquet: "), ((cut,), "cut.parquet: not a Parquet file"),
                                ((other,), "text.parquet: not a Parquet file"), ((folder / "none.parquet",), "no such file"),
                                ((good, "--columns", "mesages"), 'did you mean "messages"?')):
        done = convert(*arguments, "--output", output)
        require(done.returncode == 2 and expected in done.stderr, (arguments, done))
        require(not output.exists() and not list(folder.glob("*.partial")), "something is left")
    infinite = folder / "infinite.parquet"
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist([{"text": "a", "x": 1.0}, {"text": "b", "x": float("nan")}]), infinite)
    done = convert(infinite, "--output", output)
    require(done.returncode == 2 and "row 2: JSON has no such value" in done.stderr, done)
    require(convert(infinite, "--output", output, "--columns", "text").returncode == 0, "a column that is left out counts")
    done = convert(good, "--output", folder / "talks.jsonl")
    require(done.returncode == 2 and "exists already" in done.stderr, done)


def main():
    with tempfile.TemporaryDirectory() as path:
        check_conversion(sys.argv[1], pathlib.Path(path))
        check_refusals(pathlib.Path(path))
    print("Parquet files are read as they should be")


if __name__ == "__main__":
    main()
