"""Figures in the documentation are refused once they were made from something else."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import doc_figures

CORPUS = doc_figures.CORPUS


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of the stored figures beside a corpus of the one A/A file and a neutral one."""
    data, corpus = tmp_path / "data", tmp_path / "corpus"
    shutil.copytree(doc_figures.DATA, data)
    corpus.mkdir()
    for name in json.loads((data / "replay.json").read_text())["made_from"]["files"]:
        shutil.copy(CORPUS / name, corpus)
    shutil.copy(CORPUS / "2026-11-30-neutral-comment.jsonl", corpus)
    monkeypatch.setattr(doc_figures, "DATA", data)
    monkeypatch.setattr(doc_figures, "CORPUS", corpus)
    monkeypatch.setattr(doc_figures, "ROOT", tmp_path)
    return tmp_path


def test_figures_of_what_is_there_are_tables(stored: Path) -> None:
    judged = doc_figures.judges()
    assert judged[0][:3] == ["rule", "sees", "false alarms a run"]
    assert judged[-1][0] == "solwatch"
    for rows in (judged, doc_figures.replay_noise(), doc_figures.replay_detection()):
        assert len(rows) > 5
        assert len({len(row) for row in rows}) == 1


def changed(path: Path, **values: Any) -> None:
    document = json.loads(path.read_text())
    document["made_from"].update(values)
    path.write_text(json.dumps(document))


def test_figures_of_another_corpus_rule_or_settings_are_refused(stored: Path) -> None:
    path = stored / "data" / "replay.json"
    kept = path.read_text()
    changed(path, rule="another")
    with pytest.raises(doc_figures.StaleFiguresError, match=r"^data/replay.json was made from other rule than there"):
        doc_figures.replay_noise()
    changed(path, settings={})
    with pytest.raises(doc_figures.StaleFiguresError, match="other rule, settings than there are now: run `make fig"):
        doc_figures.replay_noise()
    path.write_text(kept)
    name = next(iter(json.loads(kept)["made_from"]["files"]))
    file = stored / "corpus" / name
    file.write_text(file.read_text().replace('"machine":"', '"machine":"another ', 1))
    with pytest.raises(doc_figures.StaleFiguresError, match="other files"):
        doc_figures.replay_detection()
    path.unlink()
    with pytest.raises(doc_figures.StaleFiguresError, match="is not there: run `make figures`"):
        doc_figures.replay_noise()
