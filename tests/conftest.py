"""Fixtures that several files of tests use, and the order of these files."""

from __future__ import annotations

import gc
import importlib
import json
import os
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import hypothesis
import pytest

import tightlink as tl
from scenario_texts import CONTROLLED, DUMBBELL, MIXED, NOISE, ONE_FLOW, SMALL_USERS
from tightlink import cli, control
from tightlink.analysis.path import prediction
from tightlink.experiment.claims import counted
from tightlink.measure.forwarding import tables
from tightlink.measure.kernel_router import Did
from tightlink.measure.plan import Plan
from tightlink.measure.sending import jobs
from tightlink.run import Framed, Run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from browser import Page
    from tightlink.experiment.claims import Claim
    from tightlink.scenario import Scenario

#: What takes longest, the longest first: a worker that begins one of them last leaves the others idle. Those of
#: `make test`, by `pytest --durations=0`.
LONGEST: Final = (
    "test_docs.py", "test_stored_responses.py", "test_lab_digests.py", "test_oscillation.py",
    "test_congestion_control.py", "test_entry.py", "test_predict.py", "test_evaluate.py", "test_l4s.py",
    "test_one_flow.py", "test_diagnosis_of_fabrics.py", "test_relay.py", "test_synchronization.py", "test_attacks.py",
    "test_measure_path.py", "test_router_response.py", "test_tables_of_commands.py", "test_markov_of_users.py",
    "test_predict_path.py", "test_cluster.py", "test_against_ns2.py", "test_pcap_in_tshark.py",
    "test_report_in_browser.py", "test_effect_figures.py", "test_saturation.py", "test_network_congestion.py",
    "test_lab_in_reports.py", "test_congestion_basics.py", "test_link_saturation.py", "test_diagnosis.py",
    "test_bulk_throughput.py", "test_measure_command.py", "test_measure.py", "test_responses_in_browser.py",
    "test_measure_grid.py", "test_traffic.py", "test_large_runs.py", "test_capture_against_tshark.py",
    "test_terminal.py", "test_sweep.py", "test_lab_on_screens.py", "test_lab_in_browser.py", "test_narrow_reports.py",
    "test_printed_reports.py", "test_against_linux.py", "test_testbed.py", "test_transfers.py", "test_checksums.py",
    "test_bulk_throughput_live.py", "test_links_in_a_row.py", "test_measure_paced.py", "test_diagnosis_of_access.py",
    "test_regimes.py", "test_cli.py",
)  # fmt: skip


def pytest_configure(config: pytest.Config) -> None:
    """Let hundreds of commands compile once what each imports, even where Python is to write nothing beside sources."""
    if os.environ.pop("PYTHONDONTWRITEBYTECODE", None):
        os.environ["PYTHONPYCACHEPREFIX"] = str(config.rootpath / ".pytest_cache" / "bytecode")
    # How long an example takes, or what draws it, tells how busy the machine is: none of these tests is of that.
    unhurried = hypothesis.settings(deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
    hypothesis.settings.register_profile("unhurried", unhurried)
    hypothesis.settings.load_profile("unhurried")
    # Shells let jobs in the background ignore Ctrl-C, and what these start does, too.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take longest; workers take files in this order (`--no-loadscope-reorder`)."""
    here = Path(__file__).parent
    place = {here / name: -number for number, name in enumerate(reversed(LONGEST), start=1)}
    assert all(file.is_file() for file in place), "tests/conftest.py lists a file of tests that is not there"
    items.sort(key=lambda item: place.get(item.path, 0))


def pytest_collection_finish() -> None:
    """Leave what is loaded by now to itself: each full collection of garbage would look at all of it again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def benchmark() -> Callable[[str], Any]:
    """A script of the benchmarks, as a module."""
    folder = Path(__file__).parents[1] / "benchmarks"
    if not folder.is_dir():
        pytest.skip("the benchmarks are not part of the package")

    def module(name: str) -> Any:
        with pytest.MonkeyPatch.context() as patch:
            patch.syspath_prepend(str(folder))
            return importlib.import_module(name)

    return module


@pytest.fixture(scope="session")
def small_users() -> str:
    """A few users on two sides of a link, and a transfer without end."""
    return SMALL_USERS


@pytest.fixture(scope="session")
def one_flow() -> str:
    """One TCP flow over one link."""
    return ONE_FLOW


@pytest.fixture(scope="session")
def scenario(one_flow: str) -> Scenario:
    """One TCP flow over one link, for a second."""
    return tl.loads(one_flow).set("duration", "1 s")


@pytest.fixture
def file(one_flow: str, tmp_path: Path) -> Path:
    """A file with the scenario of one flow."""
    path = tmp_path / "base.toml"
    path.write_text(one_flow)
    return path


@pytest.fixture
def noisy(one_flow: str, tmp_path: Path) -> Path:
    """A file with one flow beside noise, of which every seed makes another run."""
    path = tmp_path / "noisy.toml"
    path.write_text(one_flow + NOISE)
    return path


@pytest.fixture(scope="session")
def dumbbell() -> str:
    """A hundred TCP flows over a dumbbell."""
    return DUMBBELL


@pytest.fixture(scope="session")
def mixed() -> str:
    """All kinds of traffic, a chain and one more link."""
    return MIXED


@pytest.fixture(scope="session")
def four_flows() -> Run:
    """A run of four flows over one link, to which tests of comparisons compare others."""
    from compared import BASE

    return tl.simulate(tl.loads(BASE))


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """A browser, for the tests of a module."""
    from browser import browser

    with browser(tmp_path_factory.mktemp("profile")) as page:
        yield page


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory, one_flow: str) -> Path:
    """A laboratory of one flow, whose name is to be taken as text."""
    from tightlink.laboratory import write

    text = "Try {set: link.bottleneck.queue=5 packets}."
    file = tmp_path_factory.mktemp("lab") / "one.html"
    return write(file, tl.loads(one_flow), title="one </script><b>flow", text=text)


@pytest.fixture(scope="session")
def over_time(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a run with several flows."""
    scenario = tl.loads("""
        duration = "4 s"
        link.wire = { ends = ["a", "b"], rate = "2 Mbit/s", delay = "10 ms", queue = "20 packets" }
        traffic.up = { kind = "bulk", flows = 3, from = "a", to = "b" }
        observe = { interval = "50 ms", flows = "each" }
    """)
    return tl.report.run_report(tl.simulate(scenario).save(tmp_path_factory.mktemp("over-time") / "run"))


@pytest.fixture(scope="module")
def small_pack() -> Iterator[None]:
    """The pack of evaluations on slower paths, with fewer seeds."""
    from evaluations import SEEDS
    from tightlink.studies.evaluation.setup import alone, competing, pack, path

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(alone, "RATES_MBIT", (10,))
        patch.setattr(alone, "RTTS_MS", (10, 50))
        patch.setattr(alone, "RAMP", path.Path(rate_mbit=20, rtt_ms=100))
        patch.setattr(competing, "PATHS", (competing.SLOW,))
        patch.setattr(pack, "SEEDS", SEEDS)
        yield


@pytest.fixture
def controlled() -> Scenario:
    """A flow of which tests exchange the congestion control, over one link."""
    return tl.loads(CONTROLLED)


@pytest.fixture
def few_controls(monkeypatch: pytest.MonkeyPatch) -> None:
    """One other control for a path to change to, in tests that say nothing of them: all take most of the command's time."""
    monkeypatch.setattr(prediction, "_controls", lambda: ["reno", "cubic"])


@pytest.fixture
def forgotten_controls() -> Iterator[None]:
    """Forgets the congestion controls that a test defines."""
    known = dict(control._CONTROLS)
    yield
    control._CONTROLS.clear()
    control._CONTROLS.update(known)


@pytest.fixture(scope="session")
def as_forwarded() -> Callable[..., Run]:
    """Makes what a measurement of a scenario over the kernel would be, of what its router did."""

    def made(scenario: Scenario, *, sent: int, passed: int, load: float) -> Run:
        plan = Plan.of(scenario)
        did = Did(1.0, passed, passed, 0, load * plan.resolved["duration_s"], 0.0)
        manifest = {
            "source": "measurement",
            "identity": f"{time.monotonic_ns()}",
            "scenario": scenario.explicit().written(),
            "sender": {"name": "trains", "busy": 1.0},
            "host": {"kernel": "Linux 6", "cpus": 2, "cpu_busy": 0.9, "cpu_steal": 0.0},
            "forwarding": {"passed_s": 1.0, "waited_s": 0.001, "pinned": True},
            "warnings": [],
        }
        return Run(scenario, manifest, Framed(tables(plan, jobs(plan)[0], sent, did, did)))

    return made


@pytest.fixture(scope="session")
def as_measured() -> Callable[[Run], Run]:
    """Makes of a simulation what a measurement of it on a quiet machine would be."""

    def made(run: Run) -> Run:
        manifest = {
            "source": "measurement",
            "identity": f"{time.monotonic_ns()}",
            "scenario": run.manifest["scenario"],
            "sender": {"name": "probe"},
            "host": {"kernel": "Linux 6", "cpus": 2, "cpu_busy": 0.3},
            "relay": {"lateness": {"share_late": 0.0}},
            "warnings": [],
        }
        return Run(run.scenario, manifest, Framed({name: run.table(name) for name in run.tables}))

    return made


@pytest.fixture(scope="module")
def claims(folder: Path) -> dict[str, dict[str, Any]]:
    """The claims of the study that the module's fixture ``folder`` has made, by id."""
    listed = json.loads((folder / "claims.json").read_text(encoding="utf-8"))
    return {claim["id"]: claim for claim in listed}


@pytest.fixture(scope="session")
def counts_on_the_page() -> Callable[[str, Iterable[Claim]], None]:
    """Asserts that the row of a study in docs/validation.md has what the command prints of these claims."""
    page = (Path(__file__).parents[1] / "docs" / "validation.md").read_text(encoding="utf-8")

    def there(study: str, judged: Iterable[Claim]) -> None:
        (row,) = (
            line for line in page.splitlines() if line.startswith("| ") and f"claims of the study `{study}`" in line
        )
        assert "; ".join(counted(judged)) in row, "; ".join(counted(judged))

    return there


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Runs the command: its exit code, what it printed, and what it said on standard error."""

    def run(*words: str) -> tuple[int, str, str]:
        code = cli.main(list(words))
        out, err = capsys.readouterr()
        return code, out, err

    return run
