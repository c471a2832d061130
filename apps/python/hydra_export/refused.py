"""What cannot be exported, for its user: where it is in the user's source, and the way out."""
import os
import re
import sysconfig

import torch

TORCH = os.path.dirname(os.path.abspath(torch.__file__)) + os.sep
PYTHON = sysconfig.get_path("stdlib") + os.sep
PACKAGES = "site-packages" + os.sep
OWN = os.path.dirname(os.path.abspath(__file__)) + os.sep


class Refused(Exception):
    """The model, its weights or the request is not what Hydra can train; the text says where, why and what to do."""


def shown(file):
    """The file as its user calls it: relative to the current folder where it lies below it."""
    relative = os.path.relpath(file)
    return file if relative.startswith(os.pardir) else relative


def is_users(file):
    """Whether a file is neither PyTorch's, nor Python's, nor of this package."""
    if file.startswith("<"):
        return False
    file = os.path.abspath(file)
    return not file.startswith((TORCH, OWN)) and (not file.startswith(PYTHON) or PACKAGES in file)


def innermost(frames):
    """The last (file, line) of a stack that is the user's; None without one."""
    own = [(file, line) for file, line in frames if is_users(file)]
    return own[-1] if own else None


def line_of_stack(text):
    """FILE:LINE of the innermost frame of the user in a printed stack; "" without one."""
    found = innermost([(file, int(line)) for file, line in re.findall(r'File "([^"]+)", line (\d+)', text or "")])
    return f"{shown(found[0])}:{found[1]}" if found else ""


def frames_of(error):
    """(file, line) of the calls through which an exception came, the outermost first."""
    frames, trace = [], error.__traceback__
    while trace is not None:
        frames.append((trace.tb_frame.f_code.co_filename, trace.tb_lineno))
        trace = trace.tb_next
    return frames


def line_of_error(error):
    """FILE:LINE at which an exception left the user's source; "" if it never was there."""
    found = innermost(frames_of(error))
    return f"{shown(found[0])}:{found[1]}" if found else ""


def module_path(node):
    """Dotted path of the module whose forward() made the node; "" for the whole module."""
    stack = node.meta.get("nn_module_stack") or {}
    return list(stack.values())[-1][0] if stack else ""


def place_of(node):
    """Where a node of a torch.fx graph comes from, for a message: FILE:LINE, or the module if no line is the user's."""
    path = module_path(node)
    line = line_of_stack(node.meta.get("stack_trace"))
    inside = f'module "{path}"' if path else "forward()"
    return f"{line} ({inside})" if line else inside
