"""Whether an answer declines to answer.

The reader of claims has told sentences that say that the sources, or the speaker, do not know from those that
claim something; its word stands in the report. Beside it stand here the excuses that it takes for remarks,
and the few statements about the world that are worded like a refusal.
"""

from __future__ import annotations

import re

from streamverify.types import JudgedSentence, Label, Report

_ABSTAINED = ("abstention", "false_abstention")
"""Reasons by which a report tells it; the second is of one whose passages do tell."""

_SPOKEN = r"^(?:(?:unfortunately|sorry|apologies|i['’]?m sorry|i am sorry|i['’]?m afraid)[, ]+(?:but )?)?"
_EXCUSE = re.compile(
    # A hedge before an answer ("I'm not sure, but …") is none.
    rf"{_SPOKEN}i(?:['’]m| am) not (?:\w+ly |quite )?(?:sure|certain)"
    r"(?: (?:about|of|whether|if|which|what|when|where|who|why|how)\b[^,;]*)?\W*$"
    rf"|{_SPOKEN}i (?:must |have to |need to |will )?(?:respectfully )?decline\b"
    rf"|{_SPOKEN}i can only (?:answer|help|assist|discuss|talk)\b"
    r"|\bmy (?:own )?(?:knowledge|training)(?: data)? "
    r"(?:cut-?off|(?:only |just )?(?:goes|extends|reaches|runs|covers|ends|stops))\b"
    r"|\bi was (?:only |last )?(?:trained|updated) (?:on data )?(?:up )?(?:to|until|in)\b"
    r"|\bas an ai\b"
    r"|^(?:insufficient|not enough) (?:information|data|context|evidence)\W*$"
    r"|^(?:unknown|n/a|no answer|unanswerable|no information|not (?:known|specified|stated|available))\W*$",
    re.IGNORECASE,
)
_STATEMENT = re.compile(
    r"^we (?:do not|don['’]t) know of\b(?!.*\b(?:documents?|passages?)\b)"
    r"|\bnot (?:covered|included|provided) (?:by|under) (?:the|this|your|our) (?:plan|policy|contract"
    r"|agreement|lease|insurance|warranty|guarantee|price|fee|rate|package)\b"
    r"|\bnot provide for\b"
    r"|^nothing in [^,;]{1,40} (?:forbid|prohibit|prevent|require|oblige|ban|restrict|limit|stop)s?\b"
    r"|\b(?:information|data) (?:desk|point|cent(?:re|er)|office|board|booth|stand|sheet)\b"
    r"|^no (?:information|data)\b[^.]*\b(?:may|must|shall)\b",
    re.IGNORECASE,
)


def declines(sentence: JudgedSentence) -> bool:
    """Whether a sentence says no more than that there is no answer."""
    text = sentence.text.strip()
    if _STATEMENT.search(text):
        return False
    return sentence.reason in _ABSTAINED or _EXCUSE.search(text) is not None


def refuses(report: Report) -> bool:
    """Whether an answer declines: a sentence says so, and no other one is supported."""
    told = [(sentence, declines(sentence)) for sentence in report.sentences]
    answered = any(s.label is Label.SUPPORTED and not declining for s, declining in told)
    return any(declining for _, declining in told) and not answered
