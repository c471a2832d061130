"""Workloads as TOML: dicts written, files read."""
from __future__ import annotations

import json
import numbers
import os
import re
import sys
from collections.abc import Mapping
from typing import Any, Union

from .wanted import require

Path = Union[str, "os.PathLike[str]"]
Workload = Union[Mapping[str, Any], Path]  # its tables, or the path of a file


def require_workload(given: object) -> None:
    wanted = "a workload, as a dict of its tables or the path of a file,"
    require(isinstance(given, (Mapping, str, os.PathLike)), wanted, given)


def key_text(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else quoted(key)


def quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")  # the escapes of JSON, and one more


def inline_toml(value: Any, name: str = "value") -> str:
    """A value on one line: text, path, number, bool, list or table. `name` is that of its key, for errors."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (str, os.PathLike)):
        return quoted(os.fspath(value))
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Real):
        return repr(float(value))
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(inline_toml(v, name) for v in value)}]"
    if isinstance(value, Mapping):
        return f"{{ {', '.join(entries(value, name))} }}"
    raise TypeError(f"{name}: a {type(value).__name__} cannot be written as TOML; "
                    "a text, path, number, bool, list or dict can")


def entries(table: Mapping[str, Any], name: str) -> list[str]:
    return [f"{key_text(key)} = {inline_toml(value, f'{name}.{key}')}" for key, value in table.items()]


def assignments(changes: Mapping[str, Any] | None) -> list[str]:
    """Keys of a workload with other values, as --set and clones take them."""
    require(changes is None or isinstance(changes, Mapping), 'a dict of keys, such as {"model.steps": 5},', changes)
    return [f"{key}={inline_toml(value, key)}" for key, value in (changes or {}).items()]


def section(header: str, table: Mapping[str, Any], name: str) -> str:
    return "\n".join([header, *entries(table, name), ""])


def sections(key: str, value: Any) -> list[str]:
    """[key], [[key]] or [key.name]; nothing for a value that is no table."""
    name = key_text(key)
    if isinstance(value, Mapping):
        if value and all(isinstance(v, Mapping) for v in value.values()):
            return [section(f"[{name}.{key_text(k)}]", v, f"{key}.{k}") for k, v in value.items()]
        return [section(f"[{name}]", value, key)]
    if isinstance(value, (list, tuple)) and value and all(isinstance(v, Mapping) for v in value):
        return [section(f"[[{name}]]", v, key) for v in value]
    return []


def to_toml(workload: Mapping[str, Any]) -> str:
    """As a person would write it, a section for each table: the program names lines in its errors."""
    plain = {k: v for k, v in workload.items() if not sections(k, v)}
    head = ["".join(f"{key_text(k)} = {inline_toml(v, k)}\n" for k, v in plain.items())] if plain else []
    return "\n".join(head + [s for k, v in workload.items() for s in sections(k, v)])


def read_toml(file: Path) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib  # which the wheel asks for
    with open(file, "rb") as opened:
        return tomllib.load(opened)
