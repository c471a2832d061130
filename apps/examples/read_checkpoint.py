#!/usr/bin/env python3
"""Reads a checkpoint of Hydra without Hydra: python3 read_checkpoint.py runs/quickstart/checkpoints/MODEL/000002-step-40"""
import array, json, pathlib, struct, sys

TYPES = {"F32": "f", "F64": "d", "I64": "q", "U8": "B", "BF16": "H"}


def values_of(dtype, data):
    values = array.array(TYPES[dtype], data)
    return array.array("f", b"".join(struct.pack("<I", v << 16) for v in values)) if dtype == "BF16" else values


def tensors(file):
    """Name -> (shape, values) of a safetensors file: header length, JSON header, little-endian data."""
    data = file.read_bytes()
    (length,) = struct.unpack_from("<Q", data)
    for name, t in json.loads(data[8:8 + length]).items():
        if name != "__metadata__":
            begin, end = (8 + length + o for o in t["data_offsets"])
            yield name, (t["shape"], values_of(t["dtype"], data[begin:end]))


folder = pathlib.Path(sys.argv[1])
state = json.loads((folder / "state.json").read_text())
print(f"{state['model']}: next is unit {state['unit']} of step {state['step']}, of {state['steps']} steps")
for file in sorted(folder.glob("*.safetensors")):
    for name, (shape, values) in tensors(file):
        print(f"{file.name:24} {name:48} {str(shape):14} {' '.join(f'{v:.6g}' for v in values[:3])}")
