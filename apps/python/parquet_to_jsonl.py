#!/usr/bin/env python3
"""Writes the rows of Parquet files as JSON lines: an object on each line, as `kind = "chat"` and "jsonl" read them.

    parquet_to_jsonl.py INPUT.parquet... --output ROWS.jsonl[.gz] [--columns NAME...]

Inputs are read one after the other, some thousand rows at a time, and must have the columns; without --columns all columns
of the first one are written. The output must not exist; it appears when it is complete. Needs pyarrow.
"""
import argparse
import difflib
import gzip
import json
import os
import pathlib
import sys

ROWS = 4096  # at a time


try:
    import pyarrow
    import pyarrow.parquet
except ImportError:
    print("parquet_to_jsonl: this Python has no pyarrow; install it: python3 -m pip install pyarrow", file=sys.stderr)
    sys.exit(2)


class Refused(Exception):
    """What is wrong with an input, for its user."""


def opened(path):
    try:
        return pyarrow.parquet.ParquetFile(path)
    except FileNotFoundError:
        raise Refused(f"{path}: no such file") from None
    except (OSError, pyarrow.ArrowException) as e:
        raise Refused(f"{path}: not a Parquet file that can be read: {e}") from None


def check_columns(file, path, wanted):
    there = file.schema_arrow.names
    for name in wanted:
        if name in there:
            continue
        near = difflib.get_close_matches(name, there, 1)
        raise Refused(f"{path}: there is no column \"{name}\"" + (f"; did you mean \"{near[0]}\"?" if near else "") +
                      f" (columns: {', '.join(there)})")


def write_rows(file, path, columns, out):
    count = 0
    try:
        for batch in file.iter_batches(ROWS, columns=columns):
            for row in batch.to_pylist():
                count += 1
                out.write(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n")
    except (OSError, pyarrow.ArrowException) as e:
        raise Refused(f"{path}: damaged after row {count}: {e}") from None
    except (TypeError, ValueError) as e:
        raise Refused(f"{path}: row {count}: JSON has no such value: {e}; leave its column out with --columns") from None
    return count


def convert(inputs, columns, out):
    """Returns the number of rows."""
    files = [(opened(path), path) for path in inputs]
    columns = columns or files[0][0].schema_arrow.names
    for file, path in files:
        check_columns(file, path, columns)
    return sum(write_rows(file, path, columns, out) for file, path in files)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("inputs", nargs="+", metavar="INPUT.parquet")
    arguments.add_argument("--output", required=True, type=pathlib.Path)
    arguments.add_argument("--columns", nargs="+", default=[])
    options = arguments.parse_args()
    output = options.output
    partial = output.with_name(output.name + ".partial")
    if output.exists():
        print(f"parquet_to_jsonl: {output} exists already", file=sys.stderr)
        return 2
    try:
        opener = gzip.open if output.suffix == ".gz" else open
        with opener(partial, "wt", encoding="utf-8") as out:
            rows = convert(options.inputs, options.columns, out)
        os.replace(partial, output)
    except (Refused, OSError) as e:
        print(f"parquet_to_jsonl: {e}", file=sys.stderr)
        return 2
    finally:
        partial.unlink(missing_ok=True)
    print(f"{rows} rows written to {output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
