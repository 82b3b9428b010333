"""The wording of clauses that say nothing of the world, by purpose; `conversation.py` reads them.

Every pattern is matched at the beginning of a clause, after an opening word ("also", "sadly"). English only.
"""

from __future__ import annotations

import re

from streamverify.claims.silence import TEXTS, patterns

WISH = patterns(
    r"(?:it's |it is )?(?:so |very )?(?:great|wonderful|lovely|good|nice|glad|brilliant|amazing"
    r"|delighted|pleased|happy) to (?:see|hear|know|have"
    r"|meet|read)\b|(?:merry|happy|blessed) (?:christmas|holidays|\w+day)\b|don't be (?:too|so) (?:hard"
    r"|harsh)\b|be (?:careful|kind) (?:out|to)\b",
    r"(?:drive|travel|ride|fly|run|hike|walk|swim|cook|eat|climb|sail|paddle|commute|move) (?:safe"
    r"|safely|carefully|well)\b|bon \w+$|happy \w+$"
    r"|let's get \w+$|(?:let the )?\w+ing begin$",
    r"enjoy\b",
    r"happy \w+ing\b(?!.*\bto\b)|happy (?:new year|birthday|holidays|easter|christmas|trails)",
    r"have (?:a |an |some |lots of |plenty of )?(?:very |really |truly )?(?:fun|nice|great|good|lovely"
    r"|safe|wonderful"
    r"|pleasant|productive|fantastic|relaxing|happy|productive|successful|smooth|blast|ball|pleasant"
    r"|restful"
    r"|brilliant|delicious|fabulous|joy)\b",
    r"(?:good|best of|the best of) luck\b|all the (?:best|luck)\b|best wishes|fingers crossed|break a leg",
    r"(?:(?:kind|best|warm|many) )?regards(?: \w+)?$|yours (?:sincerely|truly|faithfully)|sincerely"
    r"|cheers\b|take care\b"
    r"|stay (?:safe|healthy|warm|well|curious|dry|tuned|hydrated)\b|rest (?:up|well)\b|sleep (?:well"
    r"|tight)\b"
    r"|get (?:well|better)\b|be well\b|sweet dreams|keep (?:it up|up the|going|at it)\b|hang in there"
    r"|chin up"
    r"|you've got this|you can do (?:it|this)$|well done\b|nice (?:work|job)\b|bravo\b|go for it|put"
    r" your feet up",
    r"(?:safe|pleasant|bon|clear|happy|good) (?:travels?|trip|journey|flight|voyage|app[ée]tit|skies"
    r"|night|evening"
    r"|morning|day|afternoon|weekend|holidays?|start|hunting|stay)\b",
    r"(?:a (?:very )?(?:nice|good|great|lovely|warm|pleasant|happy|big) )\w+(?: \w+)? to you",
    r"(?:i |we )?(?:really |do |sincerely |truly |just )?(?:hope|wish|trust)\b(?! to (?:see|pay)\b)",
    r"may (?:your|you|the|all|it)\b|here's (?:to|hoping)\b|wishing\b|until next time|see you\b|bye\b"
    r"|goodbye\b"
    r"|farewell\b|talk soon|speak soon",
    r"congrat\w+|(?:many |big )?thanks\b|thank you\b|welcome(?: back| to| aboard)?\b|much (?:obliged"
    r"|appreciated)",
    r"(?:it's |it is |it was )?(?:my|our|a) pleasure|any ?time\b|you(?:'re| are) (?:very |most |always "
    r"|so )?welcome"
    r"|no (?:problem|worries|trouble)\b|don't (?:worry|mention it)\b|not at all$|glad\b(?! to)|delighted\b",
    r"(?:give|say|send|pass) .{1,40}\b(?:from me|for me|my (?:best|love|regards)|hello|hi)\b|send"
    r" (?:pictures|photos)",
    r"(?:good|great|exciting|wonderful|lovely|nice|excellent) (?:news|choice|plan|idea|thinking|stuff"
    r"|going|job)$",
    r"how (?:exciting|lovely|nice|wonderful|annoying|frustrating|sad)\b|(?:that|this|it|what) (?:must"
    r"|sounds?|looks?)"
    r" (?:be |have been |very |really |like )*(?:a )?(?:frustrating|annoying|stressful|exciting|lovely"
    r"|great|fun"
    r"|hard|difficult|tough|wonderful|nice|good|unpleasant|worrying)\b",
)
REMARK = patterns(
    # what was said before
    r"i (?:now )?(?:see|understand|know|get|realise|realize)(?: now)? (?:where|what|why|how|your)\b|one"
    r" (?:thing|step|question|point) at a time"
    r"|there(?:'s| is) (?:a lot|a fair bit|quite a bit|plenty|much|more) to (?:cover|unpack|say|this|it"
    r"|go through|take in|consider)\b"
    r"|(?:that|this)(?:'s| is| was) (?:the|our) (?:first|second|third|last|other|main|easy|hard) (?:half"
    r"|part|point|step|question)\b",
    r"here(?:'s| is| are)\b(?! (?:to|where)\b)|(?:you can |you'll |you will |please )?(?:find|see)"
    r" .{0,60}\b(?:below|above|here)$",
    r"(?:a |that's (?:a )?|that is (?:a )?|what (?:a )?|it's (?:a )?|this is (?:a )?)?(?:really |very "
    r"|quite |slightly )*"
    r"(?:an )?(?:good|great|nice|fair|excellent|valid|tricky|tough|interesting|important|common|big|hard"
    r"|sharp|slightly"
    r"|smart|lovely|thoughtful|complex)(?: and| but)?(?: \w+){0,2} (?:catch|point|question|one"
    r"|observation|thought|spot)"
    r"(?: to (?:ask|raise))?(?: with .*)?$|well spotted|point taken|(?:a )?(?:slightly |rather )?tricky"
    r" one$|fair enough",
    r"noted$|understood$|got it$|gotcha$|i see$|i understand\b|i hear you|i get it|makes sense$|agreed$"
    r"|correct$"
    r"|exactly$|true$|indeed$|right$|sure$|okay$|yes$|no$|thanks$|sorry\b(?! but)|hello\b|hi\b|hey\b"
    r"|good question$"
    r"|forgive me|pardon\b|excuse\b|(?:my |our |sincere |many )*apolog\w+|i(?:'m| am| do)? (?:so |very "
    r"|really |truly )*"
    r"(?:sorry|apologi[sz]e|beg your)\b|we(?:'re| are| do)? (?:so |very |really |truly )*(?:sorry"
    r"|apologi[sz]e)\b",
    r"you(?:'re| are) (?:quite |absolutely |totally |completely |of course )?(?:right|correct)(?: about"
    r" that| to (?:ask"
    r"|point|question|call)\b.*)?$",
    r"(?:that|this|it) (?:was|is|were)(?:n't)? (?:entirely |all |completely )?(?:my|our|an?) (?:own"
    r" )?(?:mistake|error"
    r"|fault|oversight|slip|misunderstanding|typo|mix-up)|(?:my|our) (?:bad|mistake|fault|error|slip)\b",
    r"(?:i|we) (?:clearly |simply |really |completely |must have |obviously |mistakenly |have"
    r" )*(?:misread|overlooked"
    r"|missed|mixed|misunderstood|misstated|left|picked|got|gave|should have|confused|stand corrected"
    r"|made|was wrong"
    r"|were wrong|messed|slipped|forgot|misspoke|mis\w+|wasn't clear|was unclear|jumped|took your)\b",
    # what comes next
    r"(?:now|next|first|then|finally|lastly|here|so)?,? ?(?:let's|let us|let me|allow me)\b(?! (?:say"
    r"|assume|suppose|know))",
    r"which (?:brings|leads|takes) (?:us|me)\b|(?:that|this) (?:brings|leads|takes) (?:us|me)\b"
    r"|(?:that|this) leaves (?:us with )?(?:the|one)\b|with (?:that|this|these|those)(?: \w+){0,3}"
    r"(?: out of the way| in mind| said| covered| done| settled| cleared up| sorted)\b|so much for\b"
    r"|that's it for\b"
    r"|that (?:covers|concludes|wraps up|completes|was|settles)\b|as for\b|now for\b|back to\b|enough"
    r" (?:about|of)\b",
    r"(?:the )?[\w' -]{2,40} (?:comes?|follows?|is|are) (?:next|after that|below|up next|last|first)$"
    r"|[\w' -]{2,40} is (?:a|an)(?: entirely| whole| completely)? (?:different|separate|other|another)"
    r" (?:matter|story|case|question|kettle of fish|topic)(?: altogether| entirely| again)?$",
    # how the answer is made
    r"(?:in (?:short|brief|summary|conclusion|essence|a nutshell|other words|sum)|to (?:sum up|summari[sz]e"
    r"|conclude|recap|answer (?:this|that|your|the|it)\b.*|begin with|start with|start|begin)|overall"
    r"|all in all"
    r"|in (?:one|a few|two) (?:sentence|words?)|long story short|short answer|quick answer|summary"
    r"|overview|recap)$",
    r"(?:careful |warning |attention )?spoilers?(?: \w+)?$|bear with me|hold on|one moment|one sec\w*"
    r"|stay with me"
    r"|here (?:we go|goes|it is|you (?:go|are))|here i\b|(?:that|it|this) (?:all |really |largely "
    r"|partly )*depends"
    r"(?: on (?:a (?:few|couple of|number of) |several |many |various |two |your |the |what )?[\w-]+(?:"
    r" \w+)?)?$"
    r"|details? (?:below|follow|afterwards?)",
    r"there(?:'s| is| are|'re) (?:no |not (?:a|one) |more than one |only one |a |an |several |a few |a"
    r" couple of |some"
    r" |two |three |four |five |many |various |multiple |different |a number of )+(?:[\w-]+ )?(?:simple "
    r"|easy |single"
    r" |short |clear-cut |straightforward |one-size-fits-all |quick |possible )*(?:answer|answers"
    r"|possibilities|ways"
    r"|things|points|reasons|aspects|options|steps|parts|angles|sides|factors|questions|layers|cases"
    r"|scenarios)"
    r"(?: to (?:this|that|your|the|consider|it|look at|cover|do|distinguish|keep in mind|note|unpack"
    r"|mention)"
    r"(?: [\w-]+){0,3})?(?: here| below| worth \w+)?$",
    r"(?:this|the following|my|the) (?:answer|summary|overview|response|explanation|list|comparison"
    r"|section|reply)"
    r" (?:is|are|covers?|focus\w*|sticks?|draws?|relies|rests?|below|follows?|only|will|uses?|goes|sums?"
    r"|gives?)\b"
    r"|as an overview$|in no particular order$|roughly speaking$|generally speaking$|strictly speaking$"
    r"|put simply$",
)
TURN = patterns(
    r"(?:on|back|over|now|next) (?:to|for|with)\b|(?:moving|turning|coming|passing|switching|continuing"
    r"|jumping|skipping"
    r"|proceeding|getting)(?: (?:on|now|over|back|then|next|straight))* (?:to|with)\b|(?:next up|up next"
    r"|coming up|so far so good)\b",
    r"(?:moving|turning|heading|going) (?:further|on|along|back|south|north|east|west|forward|ahead)\b",
    r"(?:then|finally|short|quick|brief|more|full|further|some|the|a|an|one|two|just|now)"
    r"(?: [\w'-]+){0,4} (?:overview|summary|answer|first|afterwards?|below|details?|background|word|recap"
    r"|points?|note|context|rundown|version|breakdown|comparison|explanation|list|side|ahead|steps?"
    r"|notes|basics)$",
)
""""On to the next point": only without a verb, since "moving objects costs a fee" is a claim."""
_SPEAK = (
    r"(?:tell|show|explain|list|draft|write|summari[sz]e|sum|compare|help|give|provide|walk|go|look"
    r"|check|find|dig|run"
    r"|scale|shorten|rewrite|rephrase|convert|translate|expand|elaborate|break|keep|stick|start|begin"
    r"|focus|limit"
    r"|rely|base|use|read|review|search|take|try|add|sketch|put|send|share|turn|answer|describe|outline"
    r"|cover|point"
    r"|leave|zoom|work|make|prepare|pull|lay|set|address|discuss|mention|recap|present|guide|assist"
    r"|suggest|see"
    r"|calculate|estimate|narrow|do|be (?:here|happy|glad|brief)|get|dive|offer|refine|adapt|adjust"
    r"|tailor|update"
    r"|simplify|clarify|narrow|skip|return|come|concentrate|confine|restrict|quote|cite|note|highlight"
    r"|spell"
    r"|create|build|generate|format|map|plan|repeat|continue|follow|skim|plot|extend|trim|reformat|tidy"
    r"|wrap"
    r"|hand|gather|collect|assemble|proofread|polish|edit|talk|step|unpack|tackle|consider|separate"
    r"|dive|drill|flesh|fill|call|post|paste|rework|reword|restate)"
)
_ADV = (
    r"(?:(?:also|gladly|happily|certainly|always|just|now|first|only|simply|briefly|quickly|of course"
    r"|then|try to|be"
    r" able to|be (?:happy|glad) to|be able|like to|love to|be delighted to|of course|easily|still"
    r"|probably|even"
    r"|start by|begin by|instead|here|mainly|solely|purely|deliberately|carefully|gladly) )*"
)
OFFER = patterns(
    rf"(?:i|we)(?:'ll|'d|'m| will| would| can| could| am| shall| may) {_ADV}(?:going to |trying to "
    rf"|about to |here to |happy to"
    rf" |glad to |able to |sticking |keeping |leaving |relying |using |basing |working |assuming "
    rf"|delighted to )?{_SPEAK}\b(?! (?:you )?that\b)",
    r"(?:i|we)(?:'m| am| are|'re) (?:here\b|all ears|at your|happy|glad|around|available|always|only"
    r"|sticking|relying"
    r"|keeping|using|going|assuming|leaving|basing|restricting|working|answering|summari[sz]ing|quoting"
    r"|focusing|drawing|looking|not going|trying"
    r"|starting|limiting|taking|treating|skipping|giving|listing)\b",
    rf"(?:i|we)(?:'ve| have)? {_ADV}(?:went|gone|looked|read|checked|reviewed|searched|rely|relied"
    rf"|skimmed|compared"
    r"|stick|stuck|based|used|started|focused|limited|kept|put|gathered|collected|left|summari[sz]ed"
    r"|listed|pulled"
    r"|grouped|sorted|assumed?|assume|added|drew|draw|took|combed|scanned|arranged|ordered|split|broke"
    r"|followed)\b",
    r"(?:just |do |please )?(?:tell|let|send|ask|give|ping|message|share with|write to|drop|shoot|remind"
    r"|call on) me\b"
    r"|say the word|(?:just )?(?:ask away|shout|holler|reply|ping|write back|come back)\b|just (?:ask"
    r"|say)\b|feel free|don't hesitate|reach out\b|get in touch\b",
    r"(?:always |more than )?(?:happy|glad|ready|willing|delighted) to\b|want me to|shall i|should"
    r" i\b(?! fail)|would you"
    r" (?:like|prefer|want)|do you (?:want|need|prefer)|would (?:a|an|it|that) (?:[\w-]+ ){1,3}help|need"
    r" (?:anything"
    r"|more|help)|any (?:other |more |further )?(?:questions|requests)|anything else|more (?:questions"
    r"|where)",
    r"(?:you can|you may|you're welcome to|you are welcome to) (?:always )?(?:ask|tell|send|share|upload"
    r"|paste|message) "
    r"(?:me|it|them|your|the|more|again|anything|another)",
    r"(?:whichever|whatever|however|whenever|as) (?:you )?(?:like|prefer|want|need|suits?|works|helps)"
    r"|in text$|as text$"
    r"|if (?:that|this|it)(?:'s| is| would)? (?:help|be |of (?:use|interest)|useful|easier)\w*",
)
CONDITION = patterns(
    r"(?:(?:and|or|but) )?(?:if|once|should|when|whenever|in case|unless|as soon as|until|before|after"
    r"|while)\b (?:you(?:'d|'re|'ll|'ve)?|i(?:'ve|'ll)?|it(?:'s)?|that(?:'s)?|this|any"
    r"|anything|something|there(?:'s| is)? (?:more|anything|something|another)|more|another|that's been"
    r"|each)\b",
    r"(?:if|when|where) (?:in doubt|necessary|needed|possible|unsure|required|in any doubt|helpful"
    r"|useful|so)$",
    rf"(?:given|based on|drawing on|relying on|using|from|going by|looking at|judging by|taking|reading"
    rf"|with|in|on) .{{0,50}}\b{TEXTS}(?: .{{0,20}})?$",
    r"(?:if|when) (?:you're |you are |still )?(?:in (?:any )?doubt|unsure|not sure|uncertain)\b",
    r"(?:to be|just to be|if only to be) (?:on the safe side|safe|sure|certain)|as needed$|for (?:that"
    r"|this|it)$",
)
AUTHORITY = (
    r"(?:website|site|web ?page|page|portal|operator|office|doctor|gp|physician|pharmacist|chemist"
    r"|midwife|vet"
    r"|dentist|nurse|hr|human resources|adviser|advisor|lawyer|solicitor|attorney|notary|insurer"
    r"|insurance|manufacturer"
    r"|maker|provider|supplier|landlord|school|box office|branch|leaflet|manual|handbook|release notes"
    r"|changelog"
    r"|documentation|docs|forecast|weather|calendar|timetable|regulator|professional|expert|specialist"
    r"|garage|dealer|support"
    r"|hotline|helpline|staff|embassy|consulate|authority|authorities|council|bank|agency|team"
    r"|organi[sz]er|venue"
    r"|museum|airline|carrier|employer|accountant|electrician|plumber|engineer|counsel\w*|reception"
    r"|front desk|hotel"
    r"|university|registrar|clinic|hospital|ranger|warden|town hall|city hall|ministry|department|union"
    r"|works council"
    r"|registry|label|packaging|package insert|source|sources|original|seller|retailer|shop|store"
    r"|library|association"
    r"|federation|club|ombudsman|court|police|customs|inspector|surveyor|consultant|tutor|teacher"
    r"|trainer|instructor"
    r"|therapist|dietitian|sponsor|manager|administrator|admin|vendor|publisher|contact|platform"
    r"|somebody|someone|counter|centre|center|them|status page)s?"
)
_CHECKS = (
    r"(?:check|double-check|re-?check|confirm|verify|consult|contact|look up|look (?:it|them|that) up"
    r"|see|read|talk to|speak (?:to|with)|refer to|visit|get in touch|have a word|seek|inquire|enquire"
    r"|e-?mail|look at"
    r"|reach out|turn to|take a look|have a look|make an appointment|discuss|get (?:it|this|that|advice"
    r"|a second|in touch"
    r"|professional|confirmation|the)|have (?:it|this|that|the|your|them)|give (?:them|the|your)|rely on"
    r"|compare"
    r"|cross-check|go by|follow up|monitor|keep an eye|obtain|request)"
)
_URGED = (
    r"(?:(?:please|do|also|always|just|then|still|first) )*(?:make sure (?:to|you)|be sure to|remember"
    r" to|don't forget to"
    r"|best to|best|it'?s (?:always |usually |often |probably )?(?:best|wise|sensible|better|advisable"
    r"|worth|a good idea"
    r"|recommended|important|safest)(?: to)?|it (?:is|would be|may be|might be)(?: \w+)? (?:best|wise"
    r"|sensible|better"
    r"|advisable|worth|a good idea|recommended|safest)(?: to)?|it pays to|the best thing (?:to do |you"
    r" can do )?is to|the safest (?:thing|way|bet)"
    r" is to|your best bet is to|i(?:'d| would)?(?: strongly| also| still)? (?:suggest|recommend|advise"
    r"|urge)(?: that)?"
    r"(?: you)?(?: to)?|you(?:(?:'d| would)(?: have| need| be wise| do well| be well advised) to| should"
    r"| ought to| had better|'d better"
    r"|(?: may| might|'ll| will)(?: also| still)? (?:want|need|have) to)(?: always| still| also)?|try to"
    r"|worth)"
)
OFTEN = re.compile(r"\b(?:every|each|once|twice|daily|weekly|always|never)\b", re.IGNORECASE)
ADVICE = patterns(
    r"(?:always )?(?:verify|double-check|cross-check|compare) .{2,50} (?:against|with|in)\b|consider"
    r" (?:consulting|checking|asking|speaking|talking|contacting|seeking|calling)\b",
    rf".{{2,60}}\b{AUTHORITY}\b.{{0,20}} (?:will|would|should|can) (?:also |surely )?be (?:glad|happy"
    rf"|able) to\b",
    rf"(?:{_URGED} )?{_CHECKS}(?:ing)?\b.*\b{AUTHORITY}\b",
    rf"(?:{_URGED}|please) (?:\w+ )?(?:check|confirm|verify|consult|contact|call|ask|look|see|read|talk"
    rf"|speak|refer|seek|discuss)\w*",
    r"(?:please |do |kindly |always )?(?:check|confirm|verify|look up|consult|double-check|see) (?:\w+"
    r" ){0,3}?(?:them|it|this"
    r"|current|latest|exact|recent|up-to-date|official|before|beforehand|first|again|directly|locally"
    r"|yourself|ahead)\b",
    rf"(?:.{{2,60}}\b)?{AUTHORITY} (?:can|will|should|could|may|might|would)(?: probably| certainly|"
    rf" also| then| surely)?"
    r" (?:be able to |be happy to |gladly )?(?:tell|give|advise|help|confirm|answer|let|assess|clarify"
    r"|explain|inform|say)\b",
    r"(?:a )?(?:quick )?(?:search|call|glance|look|e-?mail|visit|phone call)\b.{0,60}\b(?:should|will"
    r"|can|could|may|might"
    r"|would) (?:tell|help|clarify|settle|clear|confirm|answer|give|show|sort)\b",
    r"only (?:your|a|an|the) .{2,40} (?:can|could|will|may|is able to) (?:decide|tell|say|judge|assess"
    r"|determine|answer)",
    r"for (?:the )?(?:[\w-]+ ){0,2}(?:availability|times?|prices?|details?|information|advice|answer"
    r"|figures|dates|version"
    r"|status|certainty|questions?|updates?|confirmation|help|your (?:own )?(?:case|situation|location"
    r"|area|region))\b"
    r"(?: at your .*| in your .*)?$",
    rf"(?:call|ask|phone|ring|contact|e-?mail|give|try) .{{0,50}}\b{AUTHORITY}\b.{{0,20}}\b(?:about"
    rf"|whether|if|for|to (?:confirm|check|find out"
    r"|make sure|be sure|ask)|directly|first)\b|give (?:them|the|your|him|her).{0,30} (?:call|ring"
    r"|shout)\b",
    r"(?:please )?(?:have|get) .{2,50}\b(?:checked|looked at|examined|inspected|confirmed|assessed"
    r"|verified|tested)\b",
    r"(?:read|check|consult) .{2,40}\b(?:carefully|too|as well|before you|before)\b",
    r"save it\b|(?:and |then )?(?:write|note) (?:it|them|that) down",
)
CAVEAT = patterns(
    r"(?!you|it|i\b)[\w' -]{2,40} (?:may|might|can|could)"
    r"(?: well| also| always| since| still| sometimes| have)* (?:changed?|vary|differ|be (?:out of date"
    r"|outdated|different"
    r"|subject|revised|updated|old|incomplete|wrong)|been (?:updated|revised|changed))\b",
    r"(?:things|rules|prices|fees|times|hours|rates|details|conditions|schedules) (?:change|vary|differ)\b",
)
DISCLAIMER = patterns(
    r"(?:please )?(?:don't|do not|never) rely (?:on|solely|only)\b|(?:i|we) (?:can't|cannot|can not"
    r"|don't|do not|won't) (?:guarantee|promise|vouch|warrant)\b"
    r"|(?:i|we) only (?:know|have|see|had|saw|looked)\b",
    r"(?:please )?(?:treat|take|regard|consider|use|see|understand) (?:this|these|it|that|my|the"
    r" (?:above|answer|script"
    r"|figures|following|code|information|numbers))\b.{0,40}\b(?:as|with|at|only|carefully|caution)\b",
    r"(?:i|we)(?:'m| am|'re| are) (?:only |just |merely |still )?(?:an? |no |not |neither )(?:a |an "
    r"|your )?(?:\w+ ){0,2}"
    r"(?:ai|assistant|bot|chatbot|language model|model|program|doctor|lawyer|expert|professional|coach"
    r"|adviser|advisor"
    r"|vet|physician|accountant|engineer|electrician|nurse|specialist|qualified|pharmacist|therapist"
    r"|human|person"
    r"|machine|substitute|licensed|solicitor|mechanic|financial)\b|not an? (?:lawyer|doctor|expert|vet)$"
    r"|a qualified \w+$",
    r"(?:as|being) an? (?:ai|language model|assistant|chatbot|bot|large language model|ai \w+)\b",
    r"(?:nothing (?:in|here|above|i)|none of (?:this|it|the above)|no part of) .{0,30}\b(?:is|are|should"
    r"|constitutes?|counts?|replaces?)\b|not (?:legal"
    r"|medical|financial|tax|investment|professional) advice",
    r"(?:this|that|it|these|my (?:answer|reply|summary)|the (?:above|information|answer|summary)(?:"
    r" above| here)?|this"
    r" (?:answer|information|summary|overview|list|text|reply|is))(?: \w+)? ?(?:is|are|does|do|can"
    r"|cannot|should|must|may"
    r"|might|isn't|aren't|doesn't|don't|can't|shouldn't|won't|mustn't|will|replaces?|serves?)(?: not|"
    r" never| only| no| in no way"
    r"| by no means| to be| be| meant| intended| just| for)*.{0,30}\b(?:substitute|replace\w*|advice"
    r"|guarantee|binding"
    r"|professional|information(?:al)?(?: purposes)?|general guid\w+|incomplete|diagnosis|errors?"
    r"|mistakes|basis)\b",
    r"my (?:answer|summary|knowledge|information|reply|translation|reading|calculation|training|estimate"
    r"|list|data"
    r"|memory|interpretation)\b.{0,30}\b(?:may|might|can|could|must|should|ends?|stops?|is|only|isn't"
    r"|does|doesn't)\b",
    r"(?:i|we)(?: still)? (?:have no|don't have|do not have|lack|haven't got)(?: \w+){0,3} (?:access|way"
    r"|means|insight|view|ability"
    r"|knowledge|information|live|real-time|record|data|details|figures?)\b",
    r"(?:i|we) (?:can|could|may|might|will|do)(?: sometimes| occasionally| still| well| easily| also)*"
    r" (?:get|make|be|err|have)"
    r" .{0,40}\b(?:wrong|mistakes?|errors?|mistaken|inaccurate|incorrect|out of date|outdated|missed)\b",
    r"(?:i|we) (?:haven't|have not|didn't|did not|wasn't|was not)(?: been)? (?:\w+ )?(?:able to"
    r" )?(?:test\w*|try|tried"
    r"|verif\w+|check\w*|confirm\w*|run|seen?|see)\b|(?:entirely )?at your own risk|without (?:any"
    r" )?(?:guarantee|warranty)"
    r"|no (?:guarantees?|liability|warranty)\b|use .{2,30} at your own risk",
    r"for (?:binding|legal|medical|official|professional|definitive|personal(?:i[sz]ed)?|tailored"
    r"|individual|reliable)"
    r" (?:information|advice|guidance|answers?|help|statements?)\b",
    r"(?:before|if) you (?:put|invest|sign|decide|act|start|do|make|rely|take)\b.{0,80}\b(?:talk|speak"
    r"|consult|ask|see)\b",
)
