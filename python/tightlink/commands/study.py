"""The command ``tightlink study``: run a study, or print its claims."""

from typing import Annotated

from cyclopts import Parameter

from tightlink import studies
from tightlink.commands.controls import Controls, alone, define
from tightlink.commands.options import Cluster, Jobs, JsonOf, Output, WithLab, whole
from tightlink.commands.table_options import with_table_options
from tightlink.console import print_json, print_table, print_text, print_verbatim, say, warned, watching
from tightlink.errors import TightlinkError
from tightlink.experiment import claims as claimed
from tightlink.experiment import claims_file


@with_table_options
def study(
    name: str,
    *,
    output: Output = None,
    jobs: Jobs = 1,
    cluster: Cluster = None,
    live: Annotated[bool, Parameter(negative="")] = False,
    claims: Annotated[bool, Parameter(negative="")] = False,
    with_lab: WithLab = False,
    controls: Controls = None,
    json_: JsonOf = False,
    **options: str,
) -> int:
    """Run a study: its simulations, its analysis, its claims and its report.

    Args:
        name: Study, as "tightlink list studies" names it, or a Python file that defines one, which it runs.
        output: Folder for runs, claims, figures and report (default: results/NAME).
        live: Measure, too: real hosts over an emulated link, beside what is simulated.
        claims: Print what the study claims, and with what each claim is compared; nothing is run.
        json_: Print the claims with their verdicts as JSON, and what the study itself describes; with --claims, their
            table.
        options: What a study alone has, such as --routers 1/3 of congestion-control: see "tightlink study NAME --help".
    """
    given = {"--output": output, "--jobs": jobs != 1, "--cluster": cluster, "--live": live, "--with-lab": with_lab}
    without_effect = next((option for option, value in given.items() if value), None)
    if claims and without_effect is not None:
        raise TightlinkError(f"{without_effect}: it has no effect beside --claims, which runs nothing")
    define(controls)
    chosen = studies.named(name)
    whole("--jobs", jobs)
    wanted = options | ({"live": ""} if live else {})
    if claims:
        table = chosen.with_options(wanted).table()
        if json_:
            print_json([*table.statements, *table.live])
            return 0
        print_text(str(table) or f"study {chosen.name} claims nothing", indent=2)
        return 0
    from tightlink.studies.running import study as run_study

    with watching() as watch:
        found = run_study(
            chosen, output, jobs=jobs, cluster=cluster, options=wanted, with_lab=with_lab, progress=say, watch=watch
        )
    warned(found.warnings)
    if found.failures:
        say(alone(found.folder, next(iter(found.failures)), controls))
    if json_:
        verdicts = [claims_file.described(claim) for claim in found.claims]
        described = found.said.described
        print_json({"report": str(found.report), "claims": verdicts, **described}, named=bool(described))
        return found.exit_code
    if (summary := found.said.summary) is not None:
        print_table(summary.columns, summary.rows())
        print_text()
    if found.claims:
        claimed.print_table(found.claims)
        print_text("\n" + "\n".join(claimed.counted(found.claims)))
    print_verbatim(f"report: {found.report}\n")
    return found.exit_code
