"""C++ names as people write them, by the runtime library that every C++ program has."""

import ctypes
from functools import cache


def demangled(name: str) -> str:
    """Return a mangled C++ ``name`` as it is written; as it is where it is none, or no C++ runtime is there."""
    demangle = _demangler()
    if demangle is None or not name.startswith("_Z"):
        return name
    status = ctypes.c_int()
    found = demangle(name.encode(), None, None, ctypes.byref(status))
    if not found:
        return name
    text = ctypes.string_at(found).decode(errors="replace")
    ctypes.CDLL(None).free(ctypes.c_void_p(found))
    return text


@cache
def _demangler() -> "ctypes._NamedFuncPointer | None":
    for library in ("libstdc++.so.6", "libc++abi.so.1"):
        try:
            demangle = ctypes.CDLL(library).__cxa_demangle
        except (OSError, AttributeError):
            continue
        demangle.restype = ctypes.c_void_p
        demangle.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
        return demangle
    return None
