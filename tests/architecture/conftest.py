"""Reports modules that are longer than they should be; the hard limit is a test in test_source_files."""

from pathlib import Path

from _pytest.terminal import TerminalReporter

ROOT = Path(__file__).parents[2]
FOLDERS = ("contracts", "activities", "workflows", "api", "deploy")
LONG = 300


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            lines = len(path.read_text(encoding="utf-8").splitlines())
            if lines > LONG:
                terminalreporter.write_line(f"long file: {path.relative_to(ROOT)} has {lines} lines (wanted: {LONG})")
