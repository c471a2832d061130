#!/usr/bin/env python3
"""docs/python.md in a notebook's kernel: each of its blocks is a cell, in their order, and one more cell is interrupted.

    python_page.py HYDRA

Exits with 77 where the packages ipykernel and pandas are not installed.
"""

import os
import pathlib
import re
import sys
import tempfile

try:
    import ipykernel  # pylint: disable=unused-import
    import pandas  # pylint: disable=unused-import
    from jupyter_client.manager import start_new_kernel
except ImportError as missing:
    print(f"skipped: {missing}; tests/python/setup installs what is needed")
    sys.exit(77)

from checks import require

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
SHOWN = "run = hydra_train.train(workload, output='runs/shown', set={'model.steps': 100000}, show=True)"


def run_cell(client, code, on_text=lambda text: None):
    """What the cell shows, and the name of the exception that it raises."""
    asked, shown, error = client.execute(code), "", ""
    while True:
        message = client.get_iopub_msg()
        if message["parent_header"].get("msg_id") != asked:
            continue
        kind, content = message["msg_type"], message["content"]
        if kind == "stream":
            shown += content["text"]
            on_text(shown)
        elif kind == "error":
            error, shown = content["ename"], shown + "\n".join(content["traceback"])
        elif kind == "status" and content["execution_state"] == "idle":
            return shown, error


def check_blocks(client):
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE, re.M | re.S)
    require(len(blocks) >= 6, f"the page has {len(blocks)} blocks")
    for block in blocks:
        shown, error = run_cell(client, block)
        require(not error, f"a block of docs/python.md:\n{block}\n{shown}")
        if "# 2 --set" in block:
            require(shown.startswith(re.search("# (2 --set.*?) [.]{3}", block)[1]), f"what the last block shows: {shown}")
    return len(blocks)


def check_interrupt(manager, client):
    """As by the button of a notebook, once the program has shown progress below the cell."""
    waiting = [manager.interrupt_kernel]

    def interrupt(shown):
        if waiting and "gpt-lr0.001" in shown:
            waiting.pop()()

    shown, error = run_cell(client, SHOWN, interrupt)
    require(error == "KeyboardInterrupt" and "interrupted: " in shown, f"an interrupted cell: {error}\n{shown}")
    shown, error = run_cell(client, "print({m.status for m in hydra_train.open('runs/shown').models})")
    require(shown == "{'interrupted'}\n", f"its models are {shown}{error}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(HYDRA_PROGRAM=os.path.abspath(sys.argv[1]), PYTHONPATH=str(ROOT / "apps" / "python"),
                          OMP_NUM_THREADS="1", IPYTHONDIR=folder, JUPYTER_RUNTIME_DIR=folder, JUPYTER_DATA_DIR=folder)
        manager, client = start_new_kernel(kernel_name="python3", cwd=folder)
        try:
            blocks = check_blocks(client)
            check_interrupt(manager, client)
        finally:
            client.stop_channels()
            manager.shutdown_kernel()
    print(f"{blocks} blocks of docs/python.md run in a kernel, and an interrupt of it saves a run")


if __name__ == "__main__":
    main()
