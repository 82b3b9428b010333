"""`streamverify validate` and `streamverify domains …`: rules and domains on recorded answers.

Before: `program.py` registers the commands. After: `validators/`, `domains/`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from streamverify.console.asking import moment
from streamverify.console.options import CalibrationOption, Judging, ModelOption, PresetOption, ScorerOption
from streamverify.console.paths import path_from
from streamverify.console.shell import FAILED, complain, write

if TYPE_CHECKING:
    from streamverify.domains import DomainResult
    from streamverify.evaluate import Case
    from streamverify.validators import Answer, Outcome, Rule
    from streamverify.verifier import Verifier

UserOption = Annotated[str | None, typer.Option("--as", help="Who asked, and must be able to see it.")]
RolesOption = Annotated[str, typer.Option("--roles", help="Of that user, with commas between.")]
NowOption = Annotated[str | None, typer.Option("--now", help="Count ages to this day: 2026-11-01.")]
JsonOption = Annotated[bool, typer.Option("--json", help="JSON Lines in place of text.")]
NameArgument = Annotated[str, typer.Argument(metavar="DOMAIN", help="As `domains list` shows it.")]


def validate(
    dataset: Annotated[Path, typer.Argument(help="JSON Lines, one recorded answer a row.")],
    *,
    domain: Annotated[str | None, typer.Option("--domain", help="Read and judge them as of this.")] = None,
    rules: Annotated[str, typer.Option("--rules", help="Names, with commas between; all by default.")] = "",
    user: UserOption = None,
    roles: RolesOption = "",
    now: NowOption = None,
    json: JsonOption = False,
    scorer: ScorerOption = None,
    model: ModelOption = None,
    calibration: CalibrationOption = None,
    preset: PresetOption = None,
) -> None:
    """Hold recorded answers to rules, or to a domain's schema, rules and gates.

    Exit status: 0; 1 when an answer broke a rule, a rule could not be told of one, or a rule named with
    --rules had nothing to tell of any; with --domain when a gate failed; 2 for bad input.
    """
    from streamverify.errors import UsageError  # noqa: PLC0415 - loads pydantic
    from streamverify.evaluate import read_dataset  # noqa: PLC0415 - as above

    if domain is not None and rules:
        raise UsageError("a domain has its own rules: give --domain or --rules")
    cases = read_dataset(dataset, warn=complain)
    at = moment(now) or datetime.now(UTC)
    with Judging(scorer, model, calibration, preset).verifier(on_unverified="release") as verifier:
        if domain is not None:
            passed = _by_domain(domain, cases, verifier, _context(user, roles), at, json=json)
        else:
            chosen, context = _rules(rules), _context(user, roles)
            told = _by_rules(chosen, cases, verifier, context, at, json=json)
            passed = _kept(told, (rule.name for rule in chosen) if rules else ())
    if not passed:
        raise typer.Exit(FAILED)


def listed(*, json: JsonOption = False) -> None:
    """The domains: those that come with the library, and those of installed packages."""
    from streamverify.domains import installed  # noqa: PLC0415 - loads pydantic

    domains = installed()
    for name in domains.names:
        found = domains.get(name)
        told = {"name": found.name, "version": found.version, "describes": found.describes}
        _tell(told, json=json)


def show(name: NameArgument, *, json: JsonOption = False) -> None:
    """What an answer of a domain holds, and which rules and gates it meets."""
    from streamverify.domains import installed  # noqa: PLC0415 - loads pydantic

    found = installed().get(name)
    fields = found.output.model_json_schema().get("properties", {})
    rules = [*(rule.name for rule in found.output_rules), *(rule.name for rule in found.rules)]
    if json:
        told = {"name": found.name, "version": found.version, "output": found.output.model_json_schema()}
        _tell(told | {"rules": rules, "gates": list(map(str, found.gates))}, json=True)
        return
    write(f"{found.name} {found.version}: {found.describes}")
    write(f"output: {', '.join(fields)}")
    write(f"rules: {', '.join(rules)}")
    for gate in found.gates:
        write(f"gate: {gate}")


def check(
    name: NameArgument,
    *,
    answer: Annotated[str, typer.Option("--answer", "-a", help="File with the answer; - for input.")],
    passages: Annotated[
        Path,
        typer.Option(
            "--passages",
            "-p",
            help="JSON Lines, or a folder of texts.",
            parser=path_from,
            metavar="<path>",
        ),
    ],
    question: Annotated[str | None, typer.Option("--question", help="What was asked.")] = None,
    user: UserOption = None,
    roles: RolesOption = "",
    now: NowOption = None,
    json: JsonOption = False,
    scorer: ScorerOption = None,
    model: ModelOption = None,
    calibration: CalibrationOption = None,
    preset: PresetOption = None,
) -> None:
    """One answer against a domain: its block, and every rule.

    Exit status: 0; 1 when the block could not be read, or a rule was broken or could not be told; 2 for bad
    input.
    """
    from streamverify.console.files import read_answer, read_passages  # noqa: PLC0415 - loads pydantic
    from streamverify.domains import check_answer, installed  # noqa: PLC0415 - as above

    found = installed().get(name)
    text, given = read_answer(answer), read_passages(passages)
    with Judging(scorer, model, calibration, preset).verifier(on_unverified="release") as verifier:
        result = check_answer(
            found,
            verifier,
            text,
            given,
            question=question,
            context=_context(user, roles),
            now=moment(now) or datetime.now(UTC),
        )
    for outcome in result.outcomes:
        _tell(_outcome(outcome), json=json)
    if not result.passed:
        raise typer.Exit(FAILED)


def _by_domain(
    name: str,
    cases: Iterable[Case],
    verifier: Verifier,
    context: dict[str, object],
    now: datetime,
    *,
    json: bool,
) -> bool:
    from streamverify.domains import aggregate, check_answer, installed  # noqa: PLC0415 - loads pydantic
    from streamverify.figure import shown  # noqa: PLC0415 - as above

    domain = installed().get(name)
    results: list[DomainResult[Any]] = []
    for case in cases:
        result = check_answer(
            domain,
            verifier,
            _answer_of(case),
            case.passages or (),
            question=case.question,
            context=context,
            now=now,
        )
        _tell_case(case, result.outcomes, json=json)
        results.append(result)
    summary = aggregate(domain, results)
    for gate in summary.gates:
        status = "passed" if gate.passed else "failed"
        if json:
            _tell({"gate": str(gate.gate), "found": shown(gate.found), "status": status}, json=True)
        else:
            write(f"gate {gate.gate}: {status} ({gate.detail})")
    return summary.passed


def _by_rules(
    rules: Sequence[Rule],
    cases: Iterable[Case],
    verifier: Verifier,
    context: dict[str, object],
    now: datetime,
    *,
    json: bool,
) -> list[Outcome]:
    from streamverify.validators import validate as held  # noqa: PLC0415 - loads pydantic

    told: list[Outcome] = []
    for case in cases:
        outcomes = held(rules, _answered(case, verifier, context, now))
        _tell_case(case, outcomes, json=json)
        told += outcomes
    if not json:
        for rule in rules:
            own = [one.passed for one in told if one.criterion == rule.name]
            kept, broken, open_ones = (own.count(state) for state in (True, False, None))
            write(f"{rule.name}: {kept} kept it, {broken} broke it, {open_ones} not told")
    return told


def _kept(told: Sequence[Outcome], named: Iterable[str]) -> bool:
    """Whether all was kept; of a named rule something must have been told, and of some rule anyway."""
    decided = {one.criterion for one in told if one.passed is not None}
    if idle := [name for name in named if name not in decided]:
        complain(f"no answer has anything to hold to {', '.join(idle)}: that is no pass")
    elif not decided:
        complain("no answer has anything to hold to any rule: that is no pass")
    return bool(decided) and not idle and all(one.held for one in told)


def _answered(case: Case, verifier: Verifier, context: dict[str, object], now: datetime) -> Answer:
    """The case's answer as it was verified when it was recorded, or verified now."""
    from streamverify.context import context_from  # noqa: PLC0415 - loads pydantic
    from streamverify.validators import Answer  # noqa: PLC0415 - as above

    recorded = case.recording
    passages = case.passages or ()
    if recorded is None:
        report = verifier.check_sync(_answer_of(case), passages, question=case.question)
    else:
        report = recorded.report
    requester = context_from(context)
    return Answer(report=report, passages=passages, requester=requester, question=case.question, now=now)


def _answer_of(case: Case) -> str:
    from streamverify.errors import UsageError  # noqa: PLC0415 - loads pydantic

    if case.answer is None:
        raise UsageError(f"case {case.id!r} has no answer to validate")
    return case.answer


def _rules(names: str) -> tuple[Rule, ...]:
    from streamverify import validators  # noqa: PLC0415 - loads pydantic
    from streamverify.domains.company_expert import ScopesByName  # noqa: PLC0415 - as above
    from streamverify.errors import UsageError  # noqa: PLC0415 - as above

    known: dict[str, Rule] = {
        rule.name: rule
        for rule in (
            validators.MustCiteIfClaims(),
            validators.CitationExists(),
            validators.RetrievalRelevance(),
            validators.PolicyScopeAllowed(ScopesByName()),
            validators.FreshnessOk(),
            validators.FormatOk(),
        )
    }
    wanted = [name.strip() for name in names.split(",") if name.strip()] or list(known)
    if unknown := next((name for name in wanted if name not in known), None):
        raise UsageError(f"there is no rule {unknown!r}; there are {', '.join(known)}")
    return tuple(known[name] for name in wanted)


def _context(user: str | None, roles: str) -> dict[str, object]:
    from streamverify.errors import UsageError  # noqa: PLC0415 - loads pydantic

    named = [role.strip() for role in roles.split(",") if role.strip()]
    if user is None and named:
        raise UsageError("--roles are those of a user: name one with --as")
    return {"user": user, "roles": named}


def _outcome(outcome: Outcome) -> dict[str, object]:
    from streamverify.figure import NotComputed  # noqa: PLC0415 - loads pydantic

    status = "not told" if outcome.passed is None else "passed" if outcome.passed else "failed"
    score = None if isinstance(outcome.score, NotComputed) else outcome.score
    return {"criterion": outcome.criterion, "status": status, "score": score, "detail": outcome.detail}


def _tell_case(case: Case, outcomes: Sequence[Outcome], *, json: bool) -> None:
    """Every outcome as JSON; for people what was broken, or could not be told."""
    for outcome in outcomes:
        if json:
            _tell({"case": case.id, **_outcome(outcome)}, json=True)
        elif not outcome.held:
            _tell({"case": case.id, **_outcome(outcome)}, json=False)


def _tell(told: Mapping[str, object], *, json: bool) -> None:
    from streamverify.console.transcript import one_line  # noqa: PLC0415 - loads rich
    from streamverify.files.jsonl import json_text  # noqa: PLC0415 - loads pydantic

    if json:
        write(json_text(told))
    else:
        write("\t".join("-" if value is None else one_line(str(value)) for value in told.values()))
