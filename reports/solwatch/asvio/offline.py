"""The libraries that asv's pages load from other hosts, put beside them."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from solwatch.model.errors import SolwatchError

FOLDER = "libraries"
"""Folder of the site that has them."""


class Library(NamedTuple):
    """A file of an npm package that is what asv loads from ``address``, or (Flot, stupidtable) does the same."""

    address: str
    package: str
    path: str
    sha256: str


_CDNJS = "https://cdnjs.cloudflare.com/ajax/libs"
_NPM = "https://cdn.jsdelivr.net/npm"
LIBRARIES = (
    Library(
        "https://code.jquery.com/jquery-3.3.1.min.js",
        "jquery@3.3.1",
        "dist/jquery.min.js",
        "160a426ff2894252cd7cebbdd6d6b7da8fcd319c65b70468f10b6690c45d02ef",
    ),
    Library(
        f"{_CDNJS}/flot/0.8.3/jquery.flot.min.js",
        "flot@0.8.3",
        "jquery.flot.js",
        "b7b931f273c38b1277b9c6c1f4e05c4ec09885a487bddaf3279e2d7e49a38e12",
    ),
    Library(
        f"{_CDNJS}/flot/0.8.3/jquery.flot.time.min.js",
        "flot@0.8.3",
        "jquery.flot.time.js",
        "a582c832adc7138a6b05aaf61f16ebac274701f1be4afea77e739a1c34b9c41a",
    ),
    Library(
        f"{_CDNJS}/flot/0.8.3/jquery.flot.selection.min.js",
        "flot@0.8.3",
        "jquery.flot.selection.js",
        "e6c85f6c1ebe4b4da29d8ae238c7c5060283f05f7ef054f6b91817d02c092918",
    ),
    Library(
        f"{_CDNJS}/flot/0.8.3/jquery.flot.categories.min.js",
        "flot@0.8.3",
        "jquery.flot.categories.js",
        "6e81664b28ea795c734906f4aa15614640a75ac7fbd399a7fb9084040698351a",
    ),
    Library(
        f"{_NPM}/flot-orderbars@1.0.0/js/jquery.flot.orderBars.js",
        "flot-orderbars@1.0.0",
        "js/jquery.flot.orderBars.js",
        "39735b4f46f96ff4e082572401f47c55a2767b366fd1d1e821e44a8d830a12bf",
    ),
    Library(
        f"{_CDNJS}/stupidtable/1.0.1/stupidtable.min.js",
        "stupid-table-plugin@1.1.3",
        "stupidtable.min.js",
        "4642380f28ebe9ed7cac251793b281ef8620c4386205d92788f9b12f5cceb4e0",
    ),
    Library(
        f"{_CDNJS}/blueimp-md5/2.19.0/js/md5.min.js",
        "blueimp-md5@2.19.0",
        "js/md5.min.js",
        "64d7ded388c562e4bde9e58ce205e5fa01b9734fcd434d496eb7b4fbfe9b927d",
    ),
    Library(
        f"{_NPM}/bootstrap@3.1.1/dist/js/bootstrap.min.js",
        "bootstrap@3.1.1",
        "dist/js/bootstrap.min.js",
        "898d05a17f2cfc5120ddcdba47a885c378c0b466f30f0700e502757e24b403a1",
    ),
    Library(
        f"{_NPM}/bootstrap@3.1.1/dist/css/bootstrap.min.css",
        "bootstrap@3.1.1",
        "dist/css/bootstrap.min.css",
        "e9503448692b738dd260fbd7f7cabf2e11f09b600fa97e6eb3a56eba5b1a7e9b",
    ),
)

_TAG = re.compile(r'<(?:script|link)\b[^>]*?\b(?:src|href)="(?P<address>https?://[^"]+)"[^>]*>')
_FOREIGN = re.compile(r'\s(?:integrity|crossorigin|referrerpolicy)="[^"]*"')
"""Attributes that speak of another host; what lies here was checked when it came."""


def put_beside(html: Path, read: Callable[[Library], bytes]) -> list[str]:
    """Let index.html load each library from the site itself; return what couldn't be had, each as a few words.

    ``read`` returns a library's content or raises ``SolwatchError``. A page on which nothing is left to be loaded
    from elsewhere is left as it is.
    """
    index = html / "index.html"
    page = index.read_text(encoding="utf-8")
    known = {library.address: library for library in LIBRARIES}
    missing: list[str] = []

    def local(tag: re.Match[str]) -> str:
        address = tag["address"]
        library = known.get(address)
        try:
            if library is None:
                missing.append(f"{address}: no package is known that has it")
                return tag[0]
            content = read(library)
        except SolwatchError as error:
            missing.append(str(error))
            return tag[0]
        name = f"{FOLDER}/{library.package}/{Path(library.path).name}"
        (html / name).parent.mkdir(parents=True, exist_ok=True)
        (html / name).write_bytes(content)
        return _FOREIGN.sub("", tag[0]).replace(address, name)

    changed = _TAG.sub(local, page)
    if changed != page:
        index.write_text(changed, encoding="utf-8")
    return list(dict.fromkeys(missing))
