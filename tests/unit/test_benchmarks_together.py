"""`make bench`: every part runs and is written, whatever became of another."""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable
from importlib import resources
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deploy.importing import experience_id, proposal_of, read_case_file
from tests.benchmarks import __main__ as together
from tests.benchmarks import effort, far, quality, speed
from tests.benchmarks.figures import RESULTS, write_figures
from tests.benchmarks.memory import tree
from tests.benchmarks.publish_lag import further_cases, lag_figures
from tests.benchmarks.quality import Figure
from tests.benchmarks.speed_table import lag_line, memory_line
from tests.benchmarks.timing import Timing

ROOT = Path(__file__).parents[2]


def returning(figures: Any) -> Callable[..., Any]:
    def run(*_: object) -> Any:
        return figures

    return run


@pytest.fixture(autouse=True)
def nothing_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed, "run", returning({"sizes": {"200": Timing(1.0, 2.0, 3.0)}}))
    monkeypatch.setattr(far, "run", returning([{"cosine": 0.3}]))
    monkeypatch.setattr(quality, "run", returning(({"figures": []}, True)))
    monkeypatch.setattr(effort, "run", returning({"asked": 3}))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "made" / "bench.json"


def ended(tmp_path: Path, file: Path, *arguments: str) -> tuple[int, dict[str, Any]]:
    code = together.main(["--data", str(tmp_path), "--json", str(file), *arguments])
    return code, json.loads(file.read_text(encoding="utf-8"))


def test_each_part_is_written_under_its_own_name(
    tmp_path: Path, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, written = ended(tmp_path, file)
    assert code == 0
    assert written["speed"] == {"sizes": {"200": {"p50": 1.0, "p90": 2.0, "p99": 3.0}}}
    assert (written["far"], written["quality"], written["effort"]) == (
        [{"cosine": 0.3}],
        {"figures": []},
        {"asked": 3},
    )
    assert written["faults"] == []
    assert written["run"]["options"]["data"] == str(tmp_path)
    assert f"Figures: {file}" in capsys.readouterr().out


def test_a_part_below_its_goal_ends_with_1_after_the_others(
    tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quality, "run", returning(({"figures": ["low"]}, False)))
    code, written = ended(tmp_path, file)
    assert (code, written["faults"]) == (1, ["quality is below a goal"])
    assert written["quality"] == {"figures": ["low"]}
    assert written["effort"] == {"asked": 3}


def test_a_part_that_fails_takes_no_other_figures_along(
    tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(*_: object) -> None:
        raise ValueError("no such passage")

    monkeypatch.setattr(far, "run", fails)
    code, written = ended(tmp_path, file)
    assert (code, written["faults"]) == (1, ["far failed"])
    assert written["far"] == {"failed": "ValueError: no such passage"}
    assert written["speed"] and written["quality"] and written["effort"]
    assert "FAULT: far failed" in capsys.readouterr().err


def test_what_an_interrupted_run_had_measured_is_written(
    tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(quality, "run", stopped)
    with pytest.raises(KeyboardInterrupt):
        ended(tmp_path, file)
    assert {"speed", "far"} <= json.loads(file.read_text(encoding="utf-8")).keys()


def test_only_the_parts_that_are_asked_for_run(tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[argparse.Namespace] = []
    monkeypatch.setattr(speed, "run", asked.append)
    code, written = ended(tmp_path, file, "--only", "speed", "--sizes", "200", "--rounds", "10", "--further", "3")
    assert code == 0
    assert written.keys() == {"run", "faults", "speed"}
    assert [(each.sizes, each.rounds, each.further) for each in asked] == [([200], 10, 3)]


def test_without_the_public_data_speed_is_measured_and_the_rest_says_so(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    nowhere = tmp_path / "nowhere"
    given = together.options(["--json", str(file)])
    given.data = nowhere
    written = together.measure(given)
    assert "not measured" not in written["speed"]
    assert all(written[part] == {"not measured": f"There is no {nowhere}."} for part in ("far", "quality", "effort"))
    assert capsys.readouterr().out.count("Not measured") == 3


def test_a_data_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit):
        together.options(["--data", str(tmp_path / "nowhere")])


def test_the_command_takes_the_benchmarks_options_from_anywhere(tmp_path: Path) -> None:
    command = Path(sys.executable).with_name("caselore")
    asked = subprocess.run(
        [command, "bench", "--only", "nothing"], cwd=tmp_path, check=False, capture_output=True, text=True
    )
    assert asked.returncode == 2, asked.stderr
    assert "invalid choice: 'nothing'" in asked.stderr


def test_figures_go_to_a_file_that_git_ignores_unless_another_is_named() -> None:
    assert together.options([]).json.parent == RESULTS == ROOT / "bench-results"
    assert "/bench-results/" in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()


def test_quality_still_ends_with_1_below_a_goal_and_writes_first(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def measured(*_: object) -> tuple[list[Figure], dict[str, Any]]:
        return [Figure("routing topic", 10, 0.5, {"simple": 0.4}, 0.8, "by hand")], {}

    monkeypatch.undo()
    monkeypatch.setattr(quality, "measure", measured)
    with pytest.raises(SystemExit) as end:
        quality.main(["--json", str(file)])
    assert end.value.code == "below a goal"
    assert json.loads(file.read_text(encoding="utf-8"))["figures"][0]["reached"] is False
    assert "NOT reached" in capsys.readouterr().out


def test_numbers_of_numpy_are_written_and_anything_else_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    write_figures(file, {"share": np.float64(0.5), "count": np.int64(3)})
    with pytest.raises(TypeError):
        write_figures(file, {"what": object()})
    assert json.loads(file.read_text(encoding="utf-8")) == {"share": 0.5, "count": 3}


def test_further_cases_are_new_proposals_in_words_of_their_own() -> None:
    with resources.as_file(resources.files("deploy") / "demo" / "cases.jsonl") as path:
        cases = read_case_file(path).cases
    further = list(islice(further_cases(cases), 120))  # more than there are: each comes again
    assert len({experience_id(case) for _, case in further} | {experience_id(case) for case in cases}) == 120 + len(
        cases
    )
    for word, case in further:
        draft = proposal_of(type(case).model_validate(case.model_dump())).draft
        assert case.experience is not None and not case.experience.reject
        assert all(word in text for text in (draft.title, draft.synopsis.text, *(unit.text for unit in draft.units)))


def test_a_lag_that_nobody_saw_end_is_counted_and_not_averaged() -> None:
    figures = lag_figures([0.3, None, 0.1, 0.2])
    assert figures == {"published": 4, "found": 3, "p50_ms": 200.0, "most_ms": 300.0}
    assert lag_line(figures) == "4 published one by one: found after 200.0 ms (p50), 300.0 ms at most; 1 NOT found"
    assert lag_line(lag_figures([None])) == "published one by one: none of 1 was found"
    assert lag_figures([])["p50_ms"] is None


def test_memory_names_each_process_tree() -> None:
    line = memory_line(
        {
            "this process": {"resident_mb": 800, "peak_mb": 900},
            "PostgreSQL": {"processes": 9, "resident_mb": 400, "share_mb": 150},
            "Temporal": {"processes": 1, "resident_mb": 200, "share_mb": None},
        }
    )
    assert line == (
        "memory: this process 800 MB, at most 900 MB;"
        " PostgreSQL 400 MB in 9 processes (150 MB with shared memory divided);"
        " Temporal 200 MB in 1 process"
    )


def test_a_tree_counts_the_processes_below() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        held = tree(os.getpid())
        below = tree(child.pid)
        child.communicate(b"\n")
    assert held["processes"] >= 2
    assert held["resident_mb"] >= below["resident_mb"] > 0
    assert below["processes"] == 1
