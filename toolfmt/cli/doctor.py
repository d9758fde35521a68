"""`toolfmt doctor`: whether what a model's chat template writes is what its dialect reads."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from toolfmt.cli.output import note, say, write_json, write_table
from toolfmt.cli.prompt import Variables, model_folder, variables
from toolfmt.workshop.doctor.diagnosis import Diagnosis, diagnose
from toolfmt.workshop.servers import server_advice


def doctor(
    model: Annotated[
        str, Parameter(help="A model's folder, a .jinja file, or the name of a model in Hugging Face's local cache.")
    ],
    /,
    *,
    dialect: Annotated[str | None, Parameter(help="The format to check; by default the one that reads most.")] = None,
    template: Annotated[str | None, Parameter(help="The name of the template, if the folder has several.")] = None,
    settings: Variables = (),
    json: Annotated[bool, Parameter(help="Print one JSON object with the text that the template wrote.")] = False,
) -> int:
    """Check a model's chat template against the dialect that reads its answers.

    The exit code is 1 if a check fails, and 2 if there is no template to check. A note is not a failure.
    """
    found = diagnose(model_folder(model), template=template, dialect=dialect, variables=variables(settings))
    if json:
        write_json(found.report())
    else:
        _show(found)
    return 0 if found.ok else 1


def _show(found: Diagnosis) -> None:
    if _without_tools(found):
        say("no tools", f"template {found.template!r} of {found.path} shows no tools and writes no calls")
        say("so", "its model was made without tool calling, or another of its templates has it (--template)")
        say("next", "show the tools in the system prompt, with `toolfmt inject`; --json lists every check")
        return
    rows: list[tuple[str, str, str]] = []
    for check in found.checks:
        messages = [f"{'' if one.status == check.status else one.status + ': '}{one.message}" for one in check.findings]
        rows += [
            (check.scenario if at == 0 else "", check.status if at == 0 else "", message)
            for at, message in enumerate(messages or [""])
        ]
    unknown = "broken template" if found.broken else "unknown format"
    write_table((found.dialect or unknown, "", f"template {found.template!r} of {found.path}"), rows)
    failed = sum(check.status == "fail" for check in found.checks)
    if found.broken:
        say("verdict", f"the template cannot be rendered{'' if len(rows) == 1 else ' for a call'}: {found.broken}")
        say("next", _mending(found.path))
    elif not found.dialect:
        say("verdict", "no known format reads the calls that this template writes")
        say("next", "name the format of its answers (--dialect; `toolfmt detect` finds it in an answer), or add it")
    elif failed:
        say("verdict", f"{failed} of {len(found.checks)} checks fail: {found.dialect} does not read all of it")
    else:
        advice = server_advice(found.dialect, others=found.others, path=found.path)
        say("verdict", f"{found.dialect} reads what the template writes; {advice}")
    if found.others:
        note(f"{', '.join(found.others)} read its calls too")


def _mending(path: str) -> str:
    if Path(path).is_dir() or Path(path).suffix in {".jinja", ".jinja2", ".j2", ".json"}:
        return "fix the template there, or choose another of the folder (--template)"
    return "if this file is no template: give a model's folder, a .jinja file, or its tokenizer_config.json"


def _without_tools(found: Diagnosis) -> bool:
    """Whether a template can be rendered and knows nothing of tools: no dialect fits it, and it shows none."""
    unshown = any(check.scenario == "tools" and check.status == "fail" for check in found.checks)
    return not found.dialect and unshown and any(check.status != "fail" for check in found.checks)
