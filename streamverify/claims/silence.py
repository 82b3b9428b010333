"""How an answer says that its sources are silent: "the leaflet gives no clue about it".

English only. The nouns for a text are a table: what is not in it may be a person, and that a witness was
silent is a claim.
"""

from __future__ import annotations

import re


def patterns(*patterns: str) -> re.Pattern[str]:
    """One pattern out of several, whatever the case of the letters."""
    return re.compile("(?:" + "|".join(patterns) + ")", re.IGNORECASE)


TEXTS = (
    r"(?:passages?|documents?|docs|documentation|sources?|texts?|context|excerpts?|snippets?|materials?"
    r"|results?"
    r"|articles?|reports?|papers?|pages?|website|notes?|minutes|guides?|guidelines?|guidance|handbook"
    r"|manuals?|policy"
    r"|policies|act|leaflet|bulletin|rules?|information|records?|files?|sheet|summary|study|faq"
    r"|agreement|contract|lease"
    r"|letter|abstract|readme|brochure|chapters?|booklet|transcript|logs?|e-?mails?|description|specs?"
    r"|specification"
    r"|calendar|wording|chronicle|label|recipe|press release|release|terms|conditions|statutes?|by-laws?"
    r"|biography"
    r"|entry|entries|appendix|catalogue|table|data|thread|tickets?|plan|here|programme|program|listing"
    r"|instructions"
    r"|clauses?|paragraphs?|timetable|input|knowledge base|slides|presentation|interview|review|dataset"
    r"|book|blurb"
    r"|form|flyer|poster|menu|post|page|charter|memo|protocol|questionnaire|survey|syllabus|schedule"
    r"|newsletter)"
)
IN_TEXTS = (
    r"(?:in|among|within|from|outside|beyond|part of|anywhere in) (?:.{0,30} )?"
    rf"(?:{TEXTS}|here|what (?:i|you)\b.*)"
)
_NEWS = (
    r"(?:information|details?|figures?|mention|data|answers?|guidance|clues?|hints?|indications?"
    r"|explanations?|statements?"
    r"|evidence|numbers?|instructions?|specifics|word|reference|date|price|headcount|totals?|counts?"
    r"|value|reason"
    r"|values|passage|breakdown|definition|name|names|prices|dates|deadline|amount|sign|trace of (?:it"
    r"|that|this|the))"
)
_NOT = (
    r"(?:do|does|did|is|are|was|were|has|have|can|could|will|would)(?:n't| not)|never|nowhere|cannot|hardly"
)
_TELLING = (
    r"(?:say|states?|mention|specify|reveal|disclose|indicate|clarify|elaborate|touch (?:on|upon)|go"
    r" into|spell out|discuss"
    r"|get into|make clear)"
)
_HOLDING = (
    r"(?:tell|address|explain|detail|speak (?:to|about|of)|deal with|comment|name|quantify|identify"
    r"|record|report"
    r"|describe|define|cover (?:this|that)|answer|refer to|note|list|give|provide|contain any"
    r"|contain (?:information|details)|include (?:information|details|any)|have (?:any )?(?:information"
    r"|details|anything))"
)
_ADVERBS = r"(?: \w+ly| even| seem to| appear to| further| also| ever| anywhere| itself| themselves)*"
SILENCE = patterns(
    rf"(?:the|these|those|this|that|your|my|both|all|our|its|any|what)\b(?! \w+ of the (?:book|film"
    rf"|story)).{{0,60}}?\b(?:do|does)(?:n't| not)"
    rf"{_ADVERBS} {_TELLING}\b(?! (?:them|him|her) by)",
    rf"(?:the|these|those|this|your|my|both|all)\b.{{0,40}}?\b{TEXTS}\b.{{0,25}}? (?:do|does|did)(?:n't"
    rf"| not)"
    rf"{_ADVERBS} (?:{_TELLING}|{_HOLDING})\b(?! (?:them|him|her) by)",
    r"(?:that|this|the|such) (?:[\w-]+ )?(?:information|detail|figure|data|answer|question)s? (?:is"
    r"|are)(?:n't| not) (?:available|included|given|provided|there|covered|answered)\b",
    rf"(?:the|my|these|your) {TEXTS}\b.{{0,20}} (?:do|does)(?:n't| not) (?:go|reach|extend|stretch|help"
    rf"|run)\b",
    rf"(?:they|it)(?: all| both)? (?:do|does)(?:n't| not) {_TELLING}\b",
    rf"(?:the|these|your|my|both|this|all)\b.{{0,40}}?\b{TEXTS}\b.{{0,30}}? (?:says?|contains?|gives?"
    rf"|provides?|makes?|offers?|includes?|has|have|holds?"
    rf"|tells? (?:me|us|you)|supplies|reveals?|shows?|lists?) (?:nothing(?= (?:about|on|of|regarding"
    rf"|more|else|in|here|explicit|specific|at all|to|as to|concerning)|$)|no (?:[\w-]+"
    rf" ){{0,2}}?{_NEWS})\b",
    rf"(?:the|these|your|my|both|this|that|all)\b.{{0,40}}?\b{TEXTS}\b.{{0,25}}?\b(?:leaves?|left)"
    rf" .{{2,80}} (?:open|unanswered|unclear|unsaid|unmentioned"
    r"|unspecified|unstated|unexplained|undefined)\b(?!.* but )",
    rf"(?:the|these|your|my|both|this|that|all)\b.{{0,40}}?\b{TEXTS}\b.{{0,25}}? (?:is|are|remains?"
    rf"|stays?|keeps?) (?:completely |entirely )?(?:silent|quiet|vague|mum)"
    r" (?:on|about|as to|regarding)\b",
    rf"(?:(?:none|neither) of (?:the|these|your|my|them)|neither {TEXTS}|nothing (?:i (?:was|have|can)"
    rf"|in|here)|not one|no (?:single )?{TEXTS})\b.{{0,50}}\b(?:gives?|mentions?|says?|tells?|states?"
    rf"|contains?|covers?|specif\w+"
    r"|addresse?s?|explains?|answers?|refers?|deals?|names?|discuss\w*|includes?|provides?|touch\w*"
    r"|talks?|speaks?|is about|are about|describes?"
    r"|lists?|indicates?|suggests?|offers?|helps?|goes|records?|quotes?)\b",
    rf"(?:nothing|no|not|neither)\b(?:(?!\b(?:is|are|was|were|has|have|can|may|will|of)\b).){{0,40}}"
    rf" {IN_TEXTS}(?: .{{0,40}})?$",
    rf"(?:(?!\b(?:that|who)\b).){{3,90}}?\b(?:is|are|was|were|has|have|can|could|does|do|did|ca)(?:n't|"
    rf" not|not)(?: been| be| even| \w+ly| actually| further)* (?:mentioned|stated|specified|said"
    r"|discussed|disclosed|addressed|spelled out|spelt out|covered by|touched on|named in|listed in"
    r"|answered|determined|inferred|told|established from"
    r"|deduced|read off|worked out|derived|documented|explained in|recorded in|given in|provided in"
    r"|described in|included in|part of"
    r"|found in|clear from|come up in|appear in|appear anywhere|figure in|among|in|something|dealt with"
    r"|gone into)\b"
    rf"(?:.{{0,40}}\b(?:{TEXTS}|anywhere|goes into|covers?|mentions?|discuss\w*)\b(?: .{{0,25}})?|)$",
    r".{3,90}? (?:falls?|lies?|goes|is|are) (?:outside|beyond)(?: of)? .*\b(?:documents|sources|passages"
    r"|texts?|excerpts?|materials?|files|scope of (?:this"
    r"|my|the (?:documents|sources|passages))|what i|what you)\b",
    r".{3,90}? (?:remains?|stays?|is left|are left|is) (?:unanswered|open|unclear|unspecified|unstated"
    r"|unmentioned|undisclosed|unaddressed)\b"
    rf"(?: {IN_TEXTS}.*| there| here)?$",
    rf"(?:a|an|the|any|its|their) (?:[\w-]+ )?{_NEWS}\b.{{0,50}}? (?:is|are) (?:missing|absent|lacking"
    rf"|not (?:given|there|provided|included|available))\b",
    rf"(?:no|nothing)\b.{{0,60}}? (?:is|are|was|were|has been) (?:given|provided|available|mentioned"
    rf"|included|found|named|stated|said|listed|specified|supplied)"
    rf"(?: {IN_TEXTS}.*| here| there| about it)?$",
    rf"there(?:'s| is| are| was)(?:n't| not)? (?:\w+ )?(?:no|nothing|any|not"
    rf"|anything)\b.{{0,60}}?(?:\b(?:mention|word|information|details?|figures? (?:for|on)"
    rf"|clues?|hints?|indications?|guidance)\b.*|\b{IN_TEXTS}.*)$",
    r"there(?:'s| is| are) nothing (?:about|on|regarding)\b",
    r"(?:from|on|with|in|given|based on|going by|judging by) .{0,60}\b(?:it's|it is) (?:impossible|not"
    r" possible|hard|difficult) to\b",
    r"(?:it's|it is) (?:impossible|not possible) to (?:tell|say|know|determine|answer|infer)\b",
    r"(?:(?:given|from|with|based on|on the basis of|going by) .{0,60}? )?(?:i|we)(?:'m|'d|'ve)?(?: am|"
    r" are| was| were| have| had)?(?: simply| just| really| unfortunately"
    r"| therefore| still| also| honestly| not| been)* (?:can't|cannot|can not|couldn't|could not|unable"
    r"|not able|don't|do not|didn't|did not|wasn't|was not"
    r"|rather not|won't|will not|wouldn't|haven't|not in a position|have nothing|found nothing|see"
    r" nothing|saw nothing|had nothing)"
    r"(?: \w+ly| able to| to| been able to| been| really)* (?:help|answer|tell|find|found|see|say|know"
    r"|guess|work|determine|confirm|identify|give|judge|speculate|establish"
    r"|verify|locate|offer|provide|assess|comment|make|spot|come|go|examine|decide|have|on|about|there"
    r"|here|in|quote|name|rule|rate|predict|recommend|advise|diagnose"
    r"|compare|calculate|state|infer|discover|access|look|open|read|browse|check|pin|put|point|share"
    r"|assist|do|be)\b(?!.* because )",
    r"(?:i|we)(?:'d| would)? (?:can't|cannot|couldn't|could not|don't know|do not know)$|(?:i|we)(?:'d|"
    r" would) rather not\b",
    r"(?:since |as )?(?:i|we)(?:'ve| have| had)? (?:found|find|see|saw|have|got|come across) (?:no"
    r"|nothing)\b",
    rf"(?:my|the|your|these) .{{0,20}}\b(?:{TEXTS}) (?:ends?|stops?|breaks? off|predates?|only (?:go"
    rf"|goes|cover|covers|run|runs))\b",
    rf"not (?:mentioned|in|stated|covered|specified|given)\b(?: {IN_TEXTS}| (?:the|these|your) (?:\w+"
    rf" )?{TEXTS})?.{{0,10}}$",
    r"what .{2,60} leaves? open is\b",
)
