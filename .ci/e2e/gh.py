"""Stands in for GitHub's command line in the steps that ask the API: a few addresses, answered from files.

``api [--method M] [--paginate] [--silent] PATH [--field|--raw-field K=V]… [--jq EXPRESSION]`` as gh has it, expressions
evaluated by jq itself; ``issue`` and ``label`` as far as the workflows use them; ``auth setup-git`` does nothing, since
pushing into a folder asks nobody.
"""

import argparse
import json
import os
import re
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import jq

STORE = Path(os.environ["E2E_STORE"])
BOT = "github-actions[bot]"


class NotFoundError(Exception):
    """The API has no such thing."""


def answer(method: str, path: str, fields: dict[str, str]) -> Any:
    """Return what the API says; raises ``NotFoundError``."""
    parts = urlsplit(path)
    asked = dict(parse_qsl(parts.query)) | fields
    found = re.fullmatch(r"repos/[^/]+/[^/]+/(.*)", parts.path)
    route = found.group(1) if found else ""
    if method == "GET" and route == "environments/gpu-fork":
        return known("environments")["gpu-fork"]
    if method == "GET" and route == "actions/workflows/benchmark.yml/runs":
        wanted = {key: asked[key] for key in ("event", "head_sha")}
        return {"workflow_runs": [run for run in known("runs", []) if wanted.items() <= run.items()]}
    if method == "GET" and route == "pulls":
        return [pull for pull in known("pulls", []) if pull["head"]["label"] == asked["head"]]
    if method == "GET" and (run := re.fullmatch(r"actions/runs/(\d+)/artifacts", route)):
        folder = STORE / "runs" / run.group(1) / asked["name"]
        size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
        identity = f"{run.group(1)}/{asked['name']}"
        return {"artifacts": [{"id": identity, "size_in_bytes": size}] if folder.is_dir() else []}
    comments = known("comments", [])
    if pull := re.fullmatch(r"issues/(\d+)/comments", route):
        if method == "GET":
            return [one for one in comments if one["pull"] == pull.group(1)]
        made = {"id": len(comments) + 1, "pull": pull.group(1), "user": {"login": BOT}, "body": fields["body"]}
        return keep("comments", [*comments, made])
    if method == "PATCH" and (one := re.fullmatch(r"issues/comments/(\d+)", route)):
        comments[int(one.group(1)) - 1]["body"] = fields["body"]
        return keep("comments", comments)
    raise NotFoundError(f"{method} {path}")


def archive(identity: str) -> None:
    """Write an artifact to the standard output, zipped."""
    folder = STORE / "runs" / identity
    with zipfile.ZipFile(sys.stdout.buffer, "w") as packed:
        for file in sorted(each for each in folder.rglob("*") if each.is_file()):
            packed.write(file, file.relative_to(folder))


def known(name: str, default: Any = None) -> Any:
    """Return what a file of the store says."""
    path = STORE / f"{name}.json"
    if path.exists():
        return json.loads(path.read_text())
    if default is None:
        raise NotFoundError(name)
    return default


def keep(name: str, value: Any) -> Any:
    """Write a file of the store."""
    (STORE / f"{name}.json").write_text(json.dumps(value, indent=1))
    return value


def field(text: str) -> tuple[str, str]:
    """Return a field's key and value; ``@`` stands for a file's contents."""
    key, _, value = text.partition("=")
    return key, Path(value[1:]).read_text() if value.startswith("@") else value


def issue(arguments: Sequence[str]) -> int:
    """List, create, edit or close issues; 1 for one that is not there."""
    parser = argparse.ArgumentParser(prog="gh issue")
    parser.add_argument("action", choices=["list", "create", "edit", "close"])
    parser.add_argument("number", type=int, nargs="?")
    for name in ("label", "state", "limit", "json", "jq", "title"):
        parser.add_argument(f"--{name}")
    parser.add_argument("--body-file", type=Path)
    options = parser.parse_args(arguments)
    issues = known("issues", [])
    if options.action == "list":
        wanted = [{key: one[key] for key in options.json.split(",")} for one in issues if one["label"] == options.label]
        show(wanted, options.jq)
        return 0
    if options.action == "create":
        issues.append({"number": len(issues) + 1, "state": "OPEN", "label": options.label, "title": options.title})
    found = issues[(options.number or len(issues)) - 1]
    if options.action == "close":
        found["state"] = "CLOSED"
    else:
        found["body"] = options.body_file.read_text()
    keep("issues", issues)
    return 0


def show(found: Any, expression: str | None) -> None:
    """Print JSON, or what a jq expression makes of it."""
    if expression is None:
        print(json.dumps(found))
        return
    for value in jq.compile(expression).input_value(found):
        print(value if isinstance(value, str) else json.dumps(value))


def main() -> int:
    """Answer one call; 1 for what is not there, as gh has it."""
    if sys.argv[1:] == ["auth", "setup-git"] or sys.argv[1] == "label":
        return 0
    if sys.argv[1] == "issue":
        return issue(sys.argv[2:])
    parser = argparse.ArgumentParser(prog="gh")
    parser.add_argument("command", choices=["api"])
    parser.add_argument("path")
    parser.add_argument("--method", default="GET")
    parser.add_argument("--field", type=field, action="append", default=[])
    parser.add_argument("--raw-field", type=lambda text: tuple(text.split("=", 1)), action="append", default=[])
    parser.add_argument("--jq")
    parser.add_argument("--paginate", action="store_true")
    parser.add_argument("--silent", action="store_true")
    options = parser.parse_args()
    if zipped := re.fullmatch(r"repos/[^/]+/[^/]+/actions/artifacts/(.+)/zip", options.path):
        archive(zipped.group(1))
        return 0
    try:
        found = answer(options.method, options.path, dict(options.field) | dict(options.raw_field))
    except NotFoundError as error:
        print(f"gh: Not Found (HTTP 404): {error}", file=sys.stderr)
        return 1
    if options.jq or not options.silent:
        show(found, options.jq)
    return 0


if __name__ == "__main__":
    sys.exit(main())
