import os
import subprocess
from pathlib import Path

import pytest
from fakes.scratch_project import INPUTS, ScratchProject

from solwatch.model.errors import ExitCode, MachineError, RequestError
from solwatch.workspace.export import export
from solwatch.workspace.git import Repository
from solwatch.workspace.tree import content_key


def shallow_clone(project: ScratchProject, dest: Path) -> Repository:
    subprocess.run(
        ["git", "clone", "--quiet", "--depth=1", f"file://{project.root}", str(dest)], check=True, capture_output=True
    )
    return Repository.open(dest)


def test_opens_from_a_sub_folder(project: ScratchProject) -> None:
    project.commit("one")
    assert Repository.open(project.root / "src" / "tinyop").root == project.root.resolve()


def test_a_hook_s_variables_do_not_redirect(project: ScratchProject, monkeypatch: pytest.MonkeyPatch) -> None:
    project.commit("one")
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    assert Repository.open(project.root).root == project.root.resolve()


def test_refuses_what_is_no_repository(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="is not in a git repository"):
        Repository.open(tmp_path)


def test_refuses_a_repository_without_commits(project: ScratchProject) -> None:
    with pytest.raises(RequestError, match="has no commit yet"):
        Repository.open(project.root)


def test_says_when_git_is_missing(project: ScratchProject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(RequestError, match="git is not installed"):
        Repository.open(project.root)


def test_names_the_fix_for_another_user_s_repository(project: ScratchProject, monkeypatch: pytest.MonkeyPatch) -> None:
    project.commit("one")
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    with pytest.raises(MachineError, match=f"git config --global --add safe.directory {project.root}") as raised:
        Repository.open(project.root / "src")
    assert raised.value.exit_code is ExitCode.UNTRUSTED


def test_resolves_names_of_every_kind(project: ScratchProject) -> None:
    first = project.commit("one, with an umlaut: ü")
    second = project.commit("two")
    project.git("tag", "--annotate", "v1", "--message", "tagged", first)
    repository = Repository.open(project.root)
    head = repository.resolve("HEAD")
    assert (head.sha, head.name, head.subject, head.dirty) == (second, "HEAD", "two", False)
    assert repository.resolve("v1").sha == first
    assert repository.resolve("trunk~1").subject == "one, with an umlaut: ü"
    assert repository.resolve(first[:8]).sha == first


def test_works_on_a_detached_head(project: ScratchProject) -> None:
    first = project.commit("one")
    project.commit("two")
    project.git("checkout", "--quiet", "--detach", first)
    project.git("branch", "--delete", "--force", "trunk")
    assert Repository.open(project.root).resolve("HEAD").sha == first


@pytest.mark.parametrize("name", ["", "-n", "--output=x", "a..b", "a\nb"])
def test_refuses_names_that_are_no_name_of_one_commit(project: ScratchProject, name: str) -> None:
    project.commit("one")
    with pytest.raises(RequestError, match="is not the name of one commit"):
        Repository.open(project.root).resolve(name)


def test_an_unknown_commit_names_the_nearest(project: ScratchProject) -> None:
    project.commit("one")
    project.git("branch", "release-1.2")
    repository = Repository.open(project.root)
    with pytest.raises(RequestError, match="unknown commit 'trunc': did you mean trunk") as raised:
        repository.resolve("trunc")
    assert raised.value.exit_code is ExitCode.USAGE
    with pytest.raises(RequestError, match=r"did you mean release-1.2"):
        repository.resolve("release-1.3")
    with pytest.raises(RequestError, match="list the names there are"):
        repository.resolve("0123456789abcdef")


def test_a_shallow_clone_says_so(project: ScratchProject, tmp_path: Path) -> None:
    first = project.commit("one")
    project.commit("two")
    repository = shallow_clone(project, tmp_path / "clone")
    assert repository.depth().shallow
    assert repository.depth().commits == 1
    with pytest.raises(RequestError, match=r"shallow.*git fetch --unshallow"):
        repository.resolve(first)
    with pytest.raises(RequestError, match=r"parent of HEAD is not in this shallow clone.*git fetch --unshallow"):
        repository.parent(repository.resolve("HEAD"))


def test_parent_is_the_first_of_a_merge_and_none_at_the_start(project: ScratchProject) -> None:
    first = project.commit("one")
    project.git("checkout", "--quiet", "-b", "side")
    project.commit("on the side")
    project.git("checkout", "--quiet", "trunk")
    second = project.commit("two")
    project.git("-c", "user.name=x", "-c", "user.email=x@y", "merge", "--quiet", "--no-ff", "--no-edit", "side")
    repository = Repository.open(project.root)
    parent = repository.parent(repository.resolve("HEAD"))
    assert parent is not None
    assert (parent.sha, parent.name) == (second, "HEAD^")
    assert repository.parent(repository.resolve(first)) is None
    assert repository.depth().commits == 4


def test_the_working_tree_is_head_but_dirty(project: ScratchProject) -> None:
    sha = project.commit("one")
    repository = Repository.open(project.root)
    assert not repository.is_dirty()
    project.write("src/tinyop/new.py", "x = 1\n")
    assert repository.is_dirty()
    tree = repository.working_tree()
    assert (tree.sha, tree.name, tree.dirty) == (sha, "working tree", True)


def test_equal_contents_have_equal_keys(project: ScratchProject) -> None:
    project.commit("one")
    repository = Repository.open(project.root)
    first = content_key(repository, repository.resolve("HEAD"), INPUTS)
    project.write("README.md", "nothing that is built\n")
    project.commit("two")
    assert content_key(repository, repository.resolve("HEAD"), INPUTS) == first
    assert content_key(repository, repository.working_tree(), INPUTS) == first
    project.answer(2)
    changed = content_key(repository, repository.working_tree(), INPUTS)
    assert changed != first
    project.commit("three")
    assert content_key(repository, repository.resolve("HEAD"), INPUTS) == changed


def test_the_working_tree_s_key_sees_what_git_would_add(project: ScratchProject) -> None:
    project.commit("one")
    repository = Repository.open(project.root)
    keys = [content_key(repository, repository.working_tree(), INPUTS)]
    project.write("src/tinyop/extra.py", "x = 1\n")
    keys.append(content_key(repository, repository.working_tree(), INPUTS))
    (project.root / "src/tinyop/extra.py").chmod(0o755)
    keys.append(content_key(repository, repository.working_tree(), INPUTS))
    (project.root / "src/tinyop/link.py").symlink_to("extra.py")
    keys.append(content_key(repository, repository.working_tree(), INPUTS))
    (project.root / "src/tinyop/native.c").unlink()
    keys.append(content_key(repository, repository.working_tree(), INPUTS))
    assert len(set(keys)) == len(keys)
    project.write("src/tinyop/ignored.so", "built in place")
    assert content_key(repository, repository.working_tree(), INPUTS) == keys[-1]
    project.commit("two")
    assert content_key(repository, repository.resolve("HEAD"), INPUTS) == keys[-1]


def test_inputs_outside_the_repository_or_missing_are_refused(project: ScratchProject) -> None:
    project.commit("one")
    repository = Repository.open(project.root)
    head = repository.resolve("HEAD")
    for path in ("../other", "/etc", ""):
        with pytest.raises(RequestError, match="must be a path under the repository's root"):
            content_key(repository, head, [path])
    with pytest.raises(RequestError, match="none of the build inputs nothing exists at HEAD"):
        content_key(repository, head, ["nothing"])


def test_export_has_the_commit_s_files_and_leaves_the_tree_alone(project: ScratchProject, tmp_path: Path) -> None:
    project.commit("one")
    project.answer(2)
    project.write("src/tinyop/extra.py", "x = 1\n")
    before = project.git("status", "--porcelain")
    repository = Repository.open(project.root)
    export(repository, repository.resolve("HEAD"), tmp_path / "all")
    assert (tmp_path / "all" / ".gitignore").exists()
    assert "FromLong(1)" in (tmp_path / "all/src/tinyop/native.c").read_text()
    export(repository, repository.resolve("HEAD"), tmp_path / "inputs", [*INPUTS, "not-there-yet"])
    assert sorted(os.listdir(tmp_path / "inputs")) == ["setup.py", "src"]
    export(repository, repository.working_tree(), tmp_path / "dirty", INPUTS)
    assert "FromLong(2)" in (tmp_path / "dirty/src/tinyop/native.c").read_text()
    assert (tmp_path / "dirty/src/tinyop/extra.py").exists()
    assert not (tmp_path / "all/src/tinyop/extra.py").exists()
    assert project.git("status", "--porcelain") == before


def test_export_has_what_the_key_speaks_of_whatever_the_attributes_say(project: ScratchProject, tmp_path: Path) -> None:
    project.write(".gitattributes", "src/tinyop/hidden.py export-ignore\nsrc/tinyop/stamp.py export-subst\n")
    project.write("src/tinyop/hidden.py", "x = 1\n")
    project.write("src/tinyop/stamp.py", "commit = '$Format:%H$'\n")
    project.commit("one")
    repository = Repository.open(project.root)
    for name, inputs in (("inputs", INPUTS), ("all", None)):
        export(repository, repository.resolve("HEAD"), tmp_path / name, inputs)
        assert (tmp_path / name / "src/tinyop/hidden.py").exists()
        assert "$Format:%H$" in (tmp_path / name / "src/tinyop/stamp.py").read_text()
    assert sorted(os.listdir(tmp_path)) == ["all", "inputs", "project"]


def test_attributes_above_the_inputs_change_the_files_and_the_key(project: ScratchProject, tmp_path: Path) -> None:
    project.write("src/tinyop/text.txt", "a\n")
    project.commit("one")
    project.write(".gitattributes", "*.txt eol=crlf\n")
    project.commit("two")
    repository = Repository.open(project.root)
    commits = [repository.resolve(name) for name in ("HEAD~1", "HEAD")]
    assert len({content_key(repository, commit, ["src/tinyop"]) for commit in commits}) == 2
    for number, commit in enumerate(commits):
        export(repository, commit, tmp_path / str(number), ["src/tinyop"])
    contents = [(tmp_path / str(number) / "src/tinyop/text.txt").read_bytes() for number in range(2)]
    assert contents == [b"a\n", b"a\r\n"]


def test_any_file_name_can_be_built_from(project: ScratchProject, tmp_path: Path) -> None:
    names = ["new\nline", '"quoted"', "back\\slash\\n", "-dash", "tab\there", "end\r", "umlaut-ü", ":(glob)*"]
    for name in names:
        project.write(f"src/{name}", name)
    repository = Repository.open(project.root) if project.commit("one") else None
    assert repository is not None
    assert content_key(repository, repository.working_tree(), INPUTS) == (
        content_key(repository, repository.resolve("HEAD"), INPUTS)
    )
    for commit in (repository.working_tree(), repository.resolve("HEAD")):
        dest = tmp_path / commit.name
        export(repository, commit, dest, INPUTS)
        assert {name: (dest / "src" / name).read_bytes().decode() for name in names} == {name: name for name in names}


def test_submodules_under_the_inputs_come_along(project: ScratchProject, tmp_path: Path) -> None:
    inner = ScratchProject(tmp_path / "inner")
    inner.commit("one")
    project.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner.root), "src/inner")
    project.commit("with a submodule")
    repository = Repository.open(project.root)
    head = repository.resolve("HEAD")
    key = content_key(repository, head, INPUTS)
    assert content_key(repository, repository.working_tree(), INPUTS) == key
    for commit in (head, repository.working_tree()):
        export(repository, commit, tmp_path / commit.name, INPUTS)
        assert "FromLong(1)" in (tmp_path / commit.name / "src/inner/src/tinyop/native.c").read_text()
    (project.root / "src/inner/setup.py").write_text("changed")
    assert content_key(repository, repository.working_tree(), INPUTS) != key
    assert content_key(repository, head, INPUTS) == key


def test_a_submodule_that_is_not_there_names_the_fix(project: ScratchProject, tmp_path: Path) -> None:
    inner = ScratchProject(tmp_path / "inner")
    inner.commit("one")
    project.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner.root), "src/inner")
    project.commit("with a submodule")
    project.git("update-index", "--cacheinfo", f"160000,{'1' * 40},src/inner")
    project.git("commit", "--quiet", "--message", "to a commit that nobody has")
    repository = Repository.open(project.root)
    with pytest.raises(RequestError, match=r"src/inner lacks its commit 1{12}: run `git -C src/inner fetch origin"):
        content_key(repository, repository.resolve("HEAD"), INPUTS)
    project.git("submodule", "deinit", "--force", "src/inner")
    for commit in (repository.resolve("HEAD~1"), repository.working_tree()):
        with pytest.raises(
            RequestError, match=r"src/inner is a submodule that is not there: run `git submodule update --init"
        ):
            content_key(repository, commit, INPUTS)
    export(repository, repository.resolve("HEAD~1"), tmp_path / "all")
    assert os.listdir(tmp_path / "all/src/inner") == []


def test_the_gate_s_own_settings_make_no_new_build(project: ScratchProject) -> None:
    repository, keys = None, []
    for text in (
        "[project]\nname = 'x'\n",
        "[project]\nname = 'x'\n[tool.solwatch]\nmin_effect = 0.01\n",
        "[tool]\nsolwatch.min_effect = 0.02\n[project]\nname = 'x'  # its name\n",
        "[project]\nname = 'y'\n",
        "[project]\nname = 'x'\n[tool.solwatcher]\nmin_effect = 0.01\n",
        "tool = 3\n",
        "this is no TOML\n",
        "nor is this\n",
    ):
        project.write("pyproject.toml", text)
        project.commit("next")
        repository = repository or Repository.open(project.root)
        keys.append(content_key(repository, repository.resolve("HEAD"), ["pyproject.toml"]))
        assert content_key(repository, repository.working_tree(), ["pyproject.toml"]) == keys[-1]
    assert keys[0] == keys[1] == keys[2]
    assert len(set(keys)) == len(keys) - 2
