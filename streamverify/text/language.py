"""A guess at the language of a text, by its script and its function words.

Made to keep text away from models that do not cover it. Silence is the safe answer: a short text, a
list of names or a formula gives None, and English must never be taken for another language.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

_SCRIPTS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("ja", re.compile("[\u3040-\u30ff]")),
    ("zh", re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")),
    ("ko", re.compile("[\u1100-\u11ff\uac00-\ud7af]")),
    ("ru", re.compile("[\u0400-\u04ff]")),
    ("ar", re.compile("[\u0600-\u06ff\u0750-\u077f]")),
    ("hi", re.compile("[\u0900-\u097f]")),
    ("he", re.compile("[\u0590-\u05ff]")),
    ("el", re.compile("[\u0370-\u03ff\u1f00-\u1fff]")),
    ("th", re.compile("[\u0e00-\u0e7f]")),
    ("bn", re.compile("[\u0980-\u09ff]")),
    ("ta", re.compile("[\u0b80-\u0bff]")),
    ("te", re.compile("[\u0c00-\u0c7f]")),
    ("ka", re.compile("[\u10a0-\u10ff]")),
    ("hy", re.compile("[\u0530-\u058f]")),
    ("pa", re.compile("[\u0a00-\u0a7f]")),
    ("gu", re.compile("[\u0a80-\u0aff]")),
    ("or", re.compile("[\u0b00-\u0b7f]")),
    ("kn", re.compile("[\u0c80-\u0cff]")),
    ("ml", re.compile("[\u0d00-\u0d7f]")),
    ("si", re.compile("[\u0d80-\u0dff]")),
    ("lo", re.compile("[\u0e80-\u0eff]")),
    ("my", re.compile("[\u1000-\u109f]")),
    ("am", re.compile("[\u1200-\u137f]")),
    ("km", re.compile("[\u1780-\u17ff]")),
)
"""Languages by script; the commonest one stands for those that share it, narrowed by `_LETTERS`."""

_LETTERS: tuple[tuple[str, str, re.Pattern[str]], ...] = (
    ("ru", "uk", re.compile("[іїєґІЇЄҐ]")),
    ("ar", "fa", re.compile("[پچژگ]")),
    ("ar", "ur", re.compile("[ٹڈڑے]")),
    ("hi", "mr", re.compile("ळ")),
)

# Words that are also English words, parts of names or Latin phrases are left out on purpose.
_FUNCTION_WORDS: dict[str, frozenset[str]] = {
    language: frozenset(words.split())
    for language, words in {
        "en": "the of and to in is are was a were be been that this these those it its for with as on by "
              "from at an or not "
        "which who have has had will would can could may must should their they there when where than then "
        "into if but "
        "you your we our he she his her do does did about after before between during no any all each such "
        "also only",
        "de": "der das dem und ist nicht ein eine einer eines einem einen mit auf für von zu zum zur sich "
              "auch als nach bei "
        "werden wird wurde wurden sind oder aus dass wenn über können kann muss müssen durch vom beim "
        "sowie noch nur wie "
        "aber haben ihre ihr sein seine es er sie diese dieser dieses bis unter ohne gegen zwischen "
              "kein keine keinen keiner zwei drei vier fünf sechs sieben acht neun zehn",
        "fr": "les des une est dans pour par sur qui que avec sont pas plus au aux ce cette ces être été "
              "il elle ils elles "
        "nous vous leur leurs ou où mais comme doit peut ont était selon entre sans sous lors ainsi si ne "
        "se son deux trois chaque donc depuis dont cela il y selon sa ses du",
        "es": "el los las una es en del que por para con son no más al se su sus como pero este esta estos "
              "estas fue ser ha "
        "han puede pueden debe entre sin sobre según cuando también los les hasta desde muy porque donde",
        "it": "il lo gli una è di che per con non del della dei delle dal dalla nel nella sono come più al "
              "alla ai si suo sua "
        "suoi anche ma questo questa essere stato può deve tra fra ha hanno cui dopo deve secondo due tre "
        "gli prima sul sulla le",
        "pt": "os um uma é em um do da dos das que por para com não mais ao à às se seu sua seus suas como "
              "mas este esta foi ser "
        "são pode podem deve entre sem sobre segundo quando também na no nas nos até pelo pela muito já",
        "nl": "het een niet met voor op te zijn dat aan ook als bij door naar wordt "
              "worden om uit kan moet "
        "deze dit maar nog of tot werd heeft hebben geen meer hun haar zich onder over tussen zonder",
        "pl": "nie się na jest do że to jak ale oraz przez dla są po od za być może ten ta te który która "
              "które jego jej ich "
        "przed między bez pod nad tylko także już gdy jeśli był była było",
        "sv": "och att det som är en på för av med den till inte har ett om de var från eller men ska kan "
              "vid efter så "
        "när också enligt under över mellan utan sina sin vara blev denna detta",
        "da": "og at det som er en på for af med den til ikke har et om de var fra eller men skal kan ved "
              "efter så når også "
        "ifølge under mellem uden sine sin være blev denne dette",
        "cs": "se je že to jako ale pro jsou po od za být může ten ta který která které jeho její jejich "
              "před mezi bez "
        "pod nad jen také již když byl byla bylo nebo podle",
        "tr": "ve bir bu için ile olarak daha gibi kadar olan sonra göre ancak veya değil çok her en ise "
              "olduğu "
        "tarafından ne ki var yok",
        "ro": "și este care pentru cu din nu mai pe sunt în ca sau dar prin fost după poate "
              "trebuie acest această "
        "între fără ale al lui cele",
        "vi": "và của là có không được cho với trong một các những người này đã khi để từ về như cũng phải "
              "theo tại hoặc",
        "id": "yang dan di dengan untuk dari pada adalah ini itu tidak dalam akan oleh juga atau ke karena "
              "sebagai dapat telah "
        "harus bisa lebih tersebut",
    }.items()
}  # fmt: skip

_SHARED: dict[str, frozenset[str]] = {
    language: frozenset(words.split())
    for language, words in {
        "de": "in an im am war die den des so was man",
        "fr": "le la de un en et du on à",
        "es": "la de un en a se es lo",
        "it": "la le un in i e da",
        "pt": "de a o e no os as se",
        "nl": "de in van was of over had er en is die",
        "pl": "na do to po od za ten z i w o",
        "sv": "i de en den att man var så",
        "da": "i de en den at man var så",
        "cs": "na do to po od se ten v z s a i",
        "ro": "de la un o a ai cu pe",
        "id": "di dan ini ada",
    }.items()
}  # fmt: skip
"""Words that names, Latin phrases and English use too: they count, but never decide."""

_ALSO_ENGLISH = frozenset(
    """
    die war was man so den an in am also hat art men under over her for at till var sin fast met door had
    of is tot per want kan do no as dos das con son era ha come due prima ma non care din pe jest ten pod
    ale pro jen to by en ne on plus par pour se du si dan dari has me been use are main sole
    """.split()
)
"""Function words above that are English words too: alone they decide nothing about a short sentence."""

_COMMON: dict[str, frozenset[str]] = {
    language: frozenset(words.split())
    for language, words in {
"de": "einwohner millionen jahre jahren uhr hoch gebaut kostet liegt geöffnet preis turm gibt täglich "
              "stunden",
        "fr": "mètres mesure ville coûte ouvre heures jours construite construit habitants année trouve "
              "située ouverte ouvert",
        "es": "metros mide torre ciudad cuesta abre horas días precio altura construida construido años año "
              "habitantes tiene está abierta abierto tuvo",
        "it": "metri misura torre città costa apre giorni prezzo costruita costruito abitanti anni trova "
              "aperta aperto",
        "pt": "metros mede torre cidade custa abre horas dias preço altura construída construído habitantes "
              "anos tem fica está aberta aberto",
        "nl": "toren kost uur dagen prijs hoog gebouwd inwoners jaar ligt heeft geopend miljoen",
        "pl": "metrów wieża miasto kosztuje otwarta godzin dni cena wysokość zbudowana mieszkańców",
        "sv": "tornet kostar öppnar timmar dagar hög högt byggdes invånare ligger öppet",
        "da": "tårnet koster åbner dage høj højt bygget indbyggere ligger åbent",
        "cs": "metrů věž město otevřena hodin dní cena výška postavena obyvatel měří má roku",
        "tr": "kule şehir açık saat gün fiyat yüksekliği inşa nüfusu yıl yılında yüksek",
        "ro": "metri turnul oraș costă deschide zile preț înălțime construit locuitori ani",
        "id": "menara buka hari harga tinggi dibangun penduduk tahun terletak memiliki",
    }.items()
}  # fmt: skip
"""Words of measure, place and time that short answers are made of; none of them an English word."""

_KNOWN = {language: table | _SHARED.get(language, frozenset()) for language, table in _FUNCTION_WORDS.items()}
"""Words that count for a language."""
_TELLING = {
    language: table - _FUNCTION_WORDS["en"] - _ALSO_ENGLISH for language, table in _FUNCTION_WORDS.items()
}
"""Those that no English text has."""


def _languages_of_words() -> dict[str, list[tuple[str, bool]]]:
    """For each word of grammar the languages it counts for, but English, and whether it is telling there."""
    found: dict[str, list[tuple[str, bool]]] = {}
    for language, table in _KNOWN.items():
        for word in table if language != "en" else ():
            found.setdefault(word, []).append((language, word in _TELLING[language]))
    return found


_COUNTS_FOR = _languages_of_words()

_NOT_PROSE = re.compile(
    r"`[^`]*`|https?://\S+|(?<!\S)[^\s@]++@\S+|\b\w*[_/\\]\w+\b|\[[^\]]{0,12}\]|[\"“«„][^\"”»“]{0,200}[\"”»“]"
)
_WORDS = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_EXCLAIMED = re.compile(r"\W{0,4}[¡¿][^¡¿!?]{1,80}[!?]{1,4}\W{0,4}")
"""An exclamation or a question that is opened too, as Spanish does."""
_IDEOGRAPHS = frozenset({"zh", "ja", "ko"})
"""Of one character of these a word can be made."""
_FEWEST = {"el": 3}
"""Letters in a row that are a word where a text has no other script; two unless said. `αβ` is a formula."""
_LEAST_HITS = 3
_LEAST_SHARE = 0.25
"""Share of the words that must be a language's function words; running prose has 0.35 to 0.55."""
_SHORT_SHARE = 0.4
"""Share of a short sentence's words that must be another language's."""
_MARGIN = 2
"""Function words by which another language must beat English."""


def detect(text: str, *, before: str = "") -> str | None:
    """The ISO 639-1 code of a text's language; None when there is too little to tell.

    Args:
        text: a sentence or more; citations, code, addresses and quotations do not count.
        before: what stands before it; asked where the text alone is too short and has nothing English.

    Returns:
        A code of one of the languages with a table here. Related languages without one may be taken for
        the nearest that has one; English is never taken for another.
    """
    prose = _NOT_PROSE.sub(" ", text)
    letters = sum(map(str.isalpha, prose))
    if not letters:
        return None
    found = _by_script(prose, letters) or _by_words(prose) or _by_few_words(prose)
    if found is None and _EXCLAIMED.fullmatch(prose.strip()) and not _has_english(prose):
        return "es"
    if found is None and before and not _has_english(prose):
        found = _by_words(_NOT_PROSE.sub(" ", before))
        return None if found == "en" else found
    return found


def _has_english(prose: str) -> bool:
    return any(word.lower() in _FUNCTION_WORDS["en"] for word in _WORDS.findall(prose))


def _by_few_words(prose: str) -> str | None:
    """The language of a short sentence without a word of English grammar, if other words tell it.

    Names do not count, nor the small words within them ("Maria de la Cruz", "Ursula von der Leyen").
    """
    words = _WORDS.findall(prose)
    names = [word[0].isupper() and place > 0 for place, word in enumerate(words)]
    within = _in_names(words)
    lowered = [word.lower().replace("’", "'").rpartition("'")[2] for word in words]
    best: tuple[int, str] | None = None
    for language, common in _COMMON.items():
        own, shared = _FUNCTION_WORDS[language], _SHARED.get(language, frozenset())
        foreign = telling = 0
        for place, word in enumerate(lowered):
            if word in _FUNCTION_WORDS["en"] and word not in own | shared:
                break
            nouns = language == "de"  # German writes every noun with a capital
            if word in common and (nouns or not names[place]):
                foreign, telling = foreign + 1, telling + 1
            elif names[place] or (not nouns and any(names[place + 1 : place + 2])):
                continue
            elif word in own | shared and not within[place]:
                foreign += 1
                telling += word in own and word not in _ALSO_ENGLISH
            elif not word.isascii():
                foreign += 1
        else:
            sure = telling and foreign >= 2 and foreign >= len(words) * _SHORT_SHARE
            if sure and (best is None or foreign + telling > best[0]):
                best = (foreign + telling, language)
    return best[1] if best else None


_PARTICLES = frozenset(
    "de la del las los der den dem van von zu zur da do dos das di le du des ten y e al el".split()
)


def _in_names(words: Sequence[str]) -> list[bool]:
    """Of each word whether it stands with other particles alone between two capitalised words."""
    found = [False] * len(words)
    start = 0  # of the particles that end before this place
    for place, word in enumerate(words):
        if word in _PARTICLES:
            continue
        if 0 < start < place and words[start - 1][0].isupper() and word[0].isupper():
            found[start:place] = [True] * (place - start)
        start = place + 1
    return found


def _opens_name(words: Sequence[str], place: int) -> bool:
    return place + 1 < len(words) and words[place][0].isupper() and words[place + 1][0].isupper()


def _parts(words: Sequence[str], places: Iterable[int]) -> list[str]:
    """The words at these places in lower case; of "l'eau" both parts."""
    return [part for place in places for part in words[place].lower().replace("’", "'").split("'")]


def _by_script(prose: str, letters: int) -> str | None:
    if prose.isascii():  # the letters of none of these scripts
        return None
    counts = {language: len(pattern.findall(prose)) for language, pattern in _SCRIPTS}
    counts["ja"] += counts["zh"] if counts["ja"] > 1 else 0
    language, count = max(counts.items(), key=lambda entry: entry[1])
    least = 2 if language in _IDEOGRAPHS else 4
    alone = count >= letters and _is_word(language, prose)  # one word, but no letter of another script
    if not alone and (count < least or count * 2 <= letters):
        return None
    for script, narrower, pattern in _LETTERS:
        if script == language and pattern.search(prose):
            return narrower
    return language


def _is_word(language: str, prose: str) -> bool:
    """Whether a text that has only this language's script has a word in it, and not just symbols."""
    fewest = 1 if language in _IDEOGRAPHS else _FEWEST.get(language, 2)
    return any(len(word) >= fewest for word in _WORDS.findall(prose))


def _by_words(prose: str) -> str | None:
    written = _WORDS.findall(prose)
    places = [place for place, within in enumerate(_in_names(written)) if not within]
    # "La Niña", "Los Angeles": but German writes every noun with a capital.
    small = [place for place in places if not _opens_name(written, place)]
    parts, parts_of_german = _parts(written, small), _parts(written, places)
    english = sum(part in _FUNCTION_WORDS["en"] for part in parts_of_german)
    found = {language: (0, 0) for language in _FUNCTION_WORDS if language != "en"}
    for own, german in ((parts, False), (parts_of_german, True)):
        for part, count in Counter(own).items():
            for language, telling in _COUNTS_FOR.get(part, ()):
                if (language == "de") is german:
                    hits, distinct = found[language]
                    found[language] = (hits + count, distinct + telling)
    language, (most, distinct) = max(found.items(), key=lambda entry: entry[1])
    if english >= 2 and english >= most:
        return "en"
    sure = (
        most >= _LEAST_HITS
        and distinct >= 2
        and most >= len(places) * _LEAST_SHARE
        and most - english >= _MARGIN
    )
    return language if sure else None
