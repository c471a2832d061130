"""While a module is exported, libraries take other ways than when it runs. Exported is what runs."""
import contextlib
import sys
import traceback

import torch
from torch._decomp import decompositions

from .refused import Refused, is_users


class Patches:
    """Attributes that are replaced, and put back at the end in reverse order."""

    INHERITED = object()

    def __init__(self):
        self.kept = []

    def put(self, owner, name, replacement):
        self.kept.append((owner, name, owner.__dict__.get(name, self.INHERITED)))
        setattr(owner, name, replacement)

    def undo(self):
        for owner, name, before in reversed(self.kept):
            if before is self.INHERITED:
                delattr(owner, name)
            else:
                setattr(owner, name, before)


def is_not_exporting(*_, **__):
    return False


def no_packed_sequences(*_, **__):
    return None


def always_contiguous(self, memory_format=torch.contiguous_format):
    """Python skips contiguous() of what is contiguous already, which would depend on the kernels of this machine."""
    return torch.ops.aten.contiguous.default(self, memory_format=memory_format)


APPLY = torch.autograd.Function.__dict__["apply"]
HIDING = ("CheckpointFunction", "BackwardHookFunction")  # of PyTorch


def refuse_function(function, *arguments, **named):
    """In place of torch.autograd.Function.apply, whose backward is Python and would silently not be in the graph."""
    name = function.__name__
    if function.__module__.startswith("torch.") and name not in HIDING:
        return APPLY.__get__(None, function)(*arguments, **named)
    if name == "CheckpointFunction":
        raise Refused("torch.utils.checkpoint with use_reentrant=True hides what it runs from the gradients: use "
                      "use_reentrant=False, or leave it out (Hydra computes layers again by itself)")
    if name == "BackwardHookFunction":
        raise Refused("a backward hook is Python, and Hydra trains without: remove it before the export")
    raise Refused(f"{name} is a torch.autograd.Function: its backward is Python, and Hydra trains without; write it as "
                  "operations that PyTorch differentiates")


def patch_transformers(patches):
    """transformers builds a mask instead of passing is_causal, and repeats key heads, when it sees an export: other bits."""
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] != "transformers":
            continue
        for function in ("is_torchdynamo_exporting", "is_torchdynamo_compiling"):
            if function in getattr(module, "__dict__", {}):
                patches.put(module, function, is_not_exporting)
    masks = sys.modules.get("transformers.masking_utils")
    if masks is not None and hasattr(masks, "find_packed_sequence_indices"):
        patches.put(masks, "find_packed_sequence_indices", no_packed_sequences)


def with_right_state(one_layer):
    """PyTorch 2.11 gets the shape of an LSTM's last state wrong while it exports: [1, B, width] of a layer, not [B, width]."""
    def corrected(inputs, hidden, *arguments, **named):
        made, state = one_layer(inputs, hidden, *arguments, **named)
        return made, tuple(found.reshape(before.shape) for found, before in zip(state, hidden))
    return corrected


def users_frames(_, stack):
    """What a node of the graph remembers of the stack: the user's lines, and not those of forward() alone."""
    return traceback.StackSummary.from_list([frame for frame in stack if is_users(frame.filename)])


@contextlib.contextmanager
def as_eager():
    patches = Patches()
    try:
        patch_transformers(patches)
        patches.put(torch.Tensor, "contiguous", always_contiguous)
        patches.put(torch.fx.proxy.TracerBase, "_filter_traceback_frames", users_frames)
        patches.put(torch.autograd.Function, "apply", classmethod(refuse_function))
        for name in ("one_layer_lstm", "mkldnn_one_layer_lstm"):
            patches.put(decompositions, name, with_right_state(getattr(decompositions, name)))
        yield
    finally:
        patches.undo()
