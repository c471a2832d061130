#!/usr/bin/env python3
"""Conversations from a play, as JSON lines on stdout: a speech and the answer to it, where both are short.

    talks.py PLAY.txt >talks.jsonl

A speech of the text is a line with the speaker and a colon, and the lines up to an empty one.
"""

import json
import pathlib
import sys

LONGEST = 160  # characters of a speech


def speeches(play):
    """The words of each, without the speaker."""
    for paragraph in play.split("\n\n"):
        _, _, words = paragraph.strip().partition("\n")
        yield " ".join(words.split())


def main():
    spoken = list(speeches(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")))
    for said, answer in zip(spoken, spoken[1:]):
        if 0 < len(said) <= LONGEST and 0 < len(answer) <= LONGEST:
            talk = [{"role": "user", "content": said}, {"role": "assistant", "content": answer}]
            print(json.dumps({"messages": talk}))


if __name__ == "__main__":
    main()
