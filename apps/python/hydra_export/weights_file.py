"""model.safetensors, written tensor by tensor."""
import ctypes
import hashlib
import json

from .scalar_types import NAMES

FORMAT_NAMES = {"f32": "F32", "f64": "F64", "bf16": "BF16", "f16": "F16", "i64": "I64", "i32": "I32", "i16": "I16", "i8": "I8",
                "u8": "U8", "bool": "BOOL"}


def header_of(tensors):
    """The header of a safetensors file of these tensors, by name: large types first, so that each lies aligned."""
    entries, offset = {}, 0
    for name, tensor in tensors.items():
        size = tensor.numel() * tensor.element_size()
        entries[name] = {"dtype": FORMAT_NAMES[NAMES[tensor.dtype]], "shape": list(tensor.shape),
                         "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(entries, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text


def bytes_of_tensor(tensor):
    """The elements of a contiguous tensor in the memory of this machine, not copied."""
    size = tensor.numel() * tensor.element_size()
    return memoryview((ctypes.c_char * size).from_address(tensor.data_ptr())) if size else b""


def write_weights(path, tensors, load):
    """Writes tensors by name; load(name) gives the values of one, so that no more than one is in memory if they come from a
    file. Returns the SHA-256 of the file, 64 hexadecimal digits."""
    tensors = dict(sorted(tensors.items(), key=lambda item: (-item[1].element_size(), item[0])))
    digest = hashlib.sha256()
    with open(path, "wb") as file:
        def put(data):
            digest.update(data)
            file.write(data)
        put(header_of(tensors))
        for name, tensor in tensors.items():
            values = load(name).detach().to("cpu", tensor.dtype).contiguous()
            put(bytes_of_tensor(values))
            del values
    return digest.hexdigest()


def stored_tensors(module_tensors, graph_stored):
    """What model.safetensors holds, by name, and all names of each in the module's state_dict(): every tensor of that, and
    constants of the graph that are not in it. Both arguments are iterables of graph.Stored."""
    tensors, names = {}, {}
    for stored in [*module_tensors, *graph_stored]:
        tensors[stored.name] = stored.tensor
        if stored.names:
            names[stored.name] = stored.names
    return tensors, dict(sorted(names.items()))
