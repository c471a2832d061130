"""Lets the Python that setup makes import the torch whose libraries Hydra is built with. Its wheel was unpacked without the CUDA
libraries, 2.2 GB, that libtorch_cuda.so names. Empty libraries stand in for them: the loader looks for a library by its name
only until one of that name is loaded, and with RTLD_LAZY misses a function only when it is called, which a model on the CPU never
does. Imported before torch; does nothing in any other Python.
"""
import ctypes
import os
import pathlib
import sys

stand_ins = sorted((pathlib.Path(sys.prefix) / "stand-ins").glob("*.so*"))
if stand_ins:
    sys.setdlopenflags(os.RTLD_LAZY)
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
for library in stand_ins:
    ctypes.CDLL(str(library))
