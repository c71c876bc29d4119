"""`cosyvoiced model`: a line for each fault, and an exit code."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cosyvoice.weights import kernel_choice, manifest
from cosyvoice.weights.kernel_choice import KernelChoice
from daemon import cli, command_line
from daemon.commands.progress import ProgressBar

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A configuration, and a random model in `published`, prepared at the configured place."""
    folder = tmp_path_factory.mktemp("workshop")
    (folder / "c.yaml").write_text(f"state: {{path: {folder}/state}}\nworker: {{threads: 1}}\n")
    assert cli.main(["model", "random", "--size", "tiny", str(folder / "published")]) == 0
    prepare = ["model", "prepare", str(folder / "published"), "--config", str(folder / "c.yaml")]
    assert cli.main(prepare) == 0
    return folder


def model(workshop: Path, *arguments: str) -> int:
    return cli.main(["model", *arguments, "--config", str(workshop / "c.yaml")])


def test_prepare_fills_the_configured_folder(workshop: Path) -> None:
    folder = workshop / "state" / "models" / "cosyvoice3"
    assert manifest.read(folder).can_enrol
    choice = kernel_choice.read(folder)
    assert choice is not None
    assert not kernel_choice.is_stale(choice, threads=1)


def test_verify_says_that_all_is_well(workshop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert model(workshop, "verify") == 0
    assert capsys.readouterr().out.endswith("cosyvoice3: all 8 files are well\n")
    assert model(workshop, "verify", str(workshop / "published")) == 0
    assert "is complete" in capsys.readouterr().out


def test_verify_tells_each_fault_on_a_line(
    workshop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = shutil.copytree(workshop / "state" / "models" / "cosyvoice3", tmp_path / "model")
    (folder / manifest.LLM).unlink()
    (folder / manifest.MERGES).write_text("")
    assert model(workshop, "verify", str(folder)) == 1
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(" ")[:2] for line in lines] == [
        ["cosyvoiced:", "llm.safetensors"],
        ["cosyvoiced:", "tokenizer/merges.txt"],
    ]


def test_info_is_for_people_and_for_programs(workshop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert model(workshop, "info") == 0
    shown = capsys.readouterr().out
    assert "random weights, seed 0, made of llm.pt, flow.pt, hift.pt" in shown
    assert "1 threads\n" in shown
    assert model(workshop, "info", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["fingerprint"] in shown
    assert found["kernels_fit"] is True


def test_tune_measures_anew(workshop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = workshop / "state" / "models" / "cosyvoice3"
    kernel_choice.write(folder, KernelChoice(machine="a board", threads=3, kernels={}))
    assert model(workshop, "info") == 0
    assert "not like this here now: run `cosyvoiced model tune`" in capsys.readouterr().out
    assert model(workshop, "tune") == 0
    choice = kernel_choice.read(folder)
    assert choice is not None
    assert choice.kernels["llm"]


def test_an_incomplete_folder_is_refused_line_by_line(
    workshop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = shutil.copytree(workshop / "published", tmp_path / "published")
    (source / "flow.pt").write_text("version https://git-lfs.github.com/spec/v1\n")
    (source / "hift.pt").unlink()
    assert model(workshop, "prepare", str(source), "--to", str(tmp_path / "model")) == 1
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(" (")[0] for line in lines] == [
        "cosyvoiced: flow.pt is a Git LFS pointer and not the file itself",
        "cosyvoiced: hift.pt is missing",
    ]
    assert not (tmp_path / "model").exists()


def test_enrolment_can_be_left_out(workshop: Path, tmp_path: Path) -> None:
    target = tmp_path / "model"
    assert model(workshop, "prepare", str(workshop / "published"), "--to", str(target), "--no-enrolment") == 0
    assert not manifest.read(target).can_enrol


@pytest.mark.parametrize("action", ["info", "verify", "tune"])
def test_an_empty_place_is_one_line(
    action: str, workshop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert model(workshop, action, str(tmp_path)) == 1
    error = capsys.readouterr().err
    assert error == f"cosyvoiced: {tmp_path} holds no prepared model; run `cosyvoiced model prepare`\n"


def test_no_threads_is_one_line(workshop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert model(workshop, "tune", "--threads", "0") == 1
    assert capsys.readouterr().err == "cosyvoiced: --threads must be at least 1\n"


def test_without_the_extra_it_says_what_to_install(tmp_path: Path) -> None:
    """As on a machine where only the core is installed: the extra's packages are not found."""
    hide = (
        "import importlib.util, sys\n"
        "find = importlib.util.find_spec\n"
        "hidden = ('torch', 'safetensors')\n"
        "importlib.util.find_spec = lambda name, *rest: None if name in hidden else find(name, *rest)\n"
        "from daemon import cli\n"
        "sys.exit(cli.main(['model', 'prepare', '.', '--to', sys.argv[1]]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", hide, str(tmp_path)], capture_output=True, text=True, timeout=50, cwd=ROOT
    )
    assert done.returncode == 1
    assert done.stderr == (
        "cosyvoiced: torch, safetensors must be installed: .venv/bin/pip install -e '.[cosyvoice3]'\n"
    )


@pytest.mark.parametrize("page", ["model.md", "model.zh.md"])
def test_the_pages_name_real_commands_and_real_sentences(page: str) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    commands = re.findall(r"cosyvoiced (model [^`#\n]+)", text)
    assert len(commands) > 5
    for command in commands:
        command_line.parser().parse_args(shlex.split(command))
    sources = "".join(path.read_text() for path in (ROOT / "cosyvoice" / "weights").glob("*.py"))
    sentences = re.findall(r"^\| `([^`]+)` \|", text.split("\n## ")[-1], re.MULTILINE)
    assert len(sentences) == 7
    for part in (part for sentence in sentences for part in sentence.split("...")):
        assert part in sources, part


def test_both_languages_give_the_same_commands() -> None:
    pages = [(ROOT / "docs" / page).read_text(encoding="utf-8") for page in ("model.md", "model.zh.md")]
    english, chinese = ([line.split("#")[0].rstrip() for line in _shell_lines(page)] for page in pages)
    assert english == chinese


def _shell_lines(page: str) -> list[str]:
    return [
        line for block in re.findall(r"```bash\n(.*?)```", page, re.DOTALL) for line in block.splitlines()
    ]


class Terminal:
    """Remembers what is written to it."""

    def __init__(self, *, tty: bool) -> None:
        self.written = ""
        self._tty = tty

    def isatty(self) -> bool:
        return self._tty

    def write(self, text: str) -> int:
        self.written += text
        return len(text)

    def flush(self) -> None:
        pass


def test_progress_is_a_bar_on_a_terminal_and_lines_elsewhere() -> None:
    terminal, pipe = Terminal(tty=True), Terminal(tty=False)
    for stream in (terminal, pipe):
        with ProgressBar(stream) as bar:
            for step, done in (("a", 1), ("a", 2), ("b", 4)):
                bar.show(step, done, 4)
    assert terminal.written.count("\r") == 3
    assert terminal.written.endswith(f"[{'#' * 30}] 100% {'b':30}\n")
    assert pipe.written == " 25% a\n100% b\n"
