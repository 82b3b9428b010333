from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify.text.language import detect

ENGLISH = [
    "The fee is due on 1 March 2022 and must be paid in full.",
    "Maria de la Cruz and Ludwig van der Rohe left Rio de Janeiro for La Paz.",
    "Set `max_retries` to 3, then run tarn doctor.",
    "北京 (Beijing) is the capital of China.",
    "He said “das ist nicht gut für uns und die anderen” to the press.",
    "Et al., i.e. and e.g. are common; so is a.k.a.",
    "Die casting was his job in the war, and he met a man.",
    "An Amish man or a Met fan was over here.",
    "dental visits",
    "5 mg twice daily",
    "Trial (2017): Ms. Pell, a courier driver.",
    "Café Müller serves crème brûlée.",
    "Chefs plate crêpes, éclairs, soufflés.",
    "Men under 40 pay more.",
    "Open door policies help men.",
    "São Paulo hosts 12 million people.",
    "La Niña cools Pacific waters.",
    "El Niño warms Peru.",
    "Los Angeles beats Las Vegas.",
    "Die Hard earned $140 million.",
    "Le Monde reports losses.",
    "Más Madrid won 27 seats.",
    "Doña María paid 500 pesos.",
    "Ursula von der Leyen leads.",
    "Tickets cost 12 euros per person.",
    "Tower height: 330 metres",
    "Gustave Eiffel lived in Dijon.",
    "Señor Peña met El País reporters.",
    "Real Madrid lost 2:0.",
    "Non est factum applies.",
    "Nimbra costs 5 euros.",
    "Das Boot premiered 1981.",
    "Costa Rica exports bananas.",
    "Pro rata refunds come later.",
    "Naïve résumé rankings fail.",
    "Union pays tour costs.",
    "Iron ore prices tripled.",
]


@pytest.mark.parametrize("text", ENGLISH)
def test_english_is_never_taken_for_another_language(text):
    assert detect(text) in {None, "en"}


@given(st.lists(st.sampled_from(ENGLISH), min_size=1, max_size=5))
def test_english_stays_english_however_it_is_put_together(texts):
    assert detect(" ".join(texts)) in {None, "en"}


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("en", "The landlord must give the tenant notice, and it has to be in writing."),
        ("de", "Die Kündigungsfrist beträgt nach dem Gesetz 60 Tage und beginnt mit der Zustellung."),
        ("fr", "Le locataire doit donner un préavis de trois mois selon la loi."),
        ("es", "El inquilino debe avisar con 60 días de antelación según la ley."),
        ("it", "La società è stata fondata nel 1998 e non ha più uffici."),
        ("pt", "O inquilino deve dar um aviso de 60 dias de acordo com a lei."),
        ("nl", "De huurder moet volgens de wet een opzegtermijn van 60 dagen in acht nemen."),
        (
            "pl",
            "Najemca musi zachować okres wypowiedzenia 60 dni i nie może go skrócić, jeśli jest to umowa.",
        ),
        ("sv", "Hyresgästen måste säga upp avtalet i förväg och det är inte möjligt att ändra."),
        ("ru", "Арендатор должен уведомить за 60 дней."),
        ("uk", "Орендар повинен повідомити за 60 днів."),
        ("ar", "يجب على المستأجر إخطار المالك قبل 60 يومًا."),
        ("hi", "किरायेदार को 60 दिन पहले सूचना देनी होगी।"),
        ("zh", "租户必须提前六十天通知。"),
        ("ja", "賃借人は60日前に通知しなければならない。"),
        ("ko", "임차인은 60일 전에 통지해야 합니다."),
        ("el", "Ο ενοικιαστής πρέπει να ειδοποιήσει."),
    ],
)
def test_running_prose_is_told(code, text):
    assert detect(text) == code


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("ar", "نعم."), ("ru", "Да."), ("ja", "はい。"), ("zh", "是"), ("ko", "네."), ("el", "Ναι."),
        ("he", "כן."), ("hi", "हाँ।"), ("th", "ใช่"), ("am", "አዎ።"), ("kn", "ಹೌದು."), ("ru", "**Да** [1]."),
        ("es", "¡Hola!"), ("es", "¿Qué tal?"),
    ],
)  # fmt: skip
def test_a_word_tells_its_script_where_there_is_no_other(code, text):
    assert detect(text) == code


@pytest.mark.parametrize("text", ["Δ", "α, β", "μ = 5", "Ω (ohm)", "5 μm", "Да is yes.", "¡Hola! sold out."])
def test_symbols_and_words_within_english_tell_nothing(text):
    assert detect(text) in {None, "en"}


SHORT = {
    "de": [
        "Der Turm ist 330 Meter hoch.",
        "Er wurde 1889 gebaut.",
        "Köln hat 1,1 Millionen Einwohner.",
        "Die Mühle hat keine zwei Räder.",
    ],
    "fr": ["La tour mesure 330 mètres.", "Elle est très haute.", "Le billet coûte 12 euros."],
    "es": ["La torre mide 330 metros.", "El precio es de 12 euros.", "Fue construida en 1889."],
    "it": ["La torre misura 330 metri.", "Il prezzo è di 12 euro.", "La città ha 3 milioni di abitanti."],
    "pt": ["A torre mede 330 metros.", "O preço é de 12 euros.", "A cidade tem 3 milhões de habitantes."],
    "nl": ["De toren is 330 meter hoog.", "De toren werd in 1889 gebouwd.", "Het kaartje kost 12 euro."],
    "pl": ["Wieża ma 330 metrów.", "Cena to 12 euro.", "Nie jest otwarta."],
    "sv": ["Tornet är 330 meter högt.", "Priset är 12 euro och staden ligger nära.", "Det byggdes år 1889."],
    "cs": ["Věž měří 330 metrů.", "Byla postavena roku 1889.", "Cena je 12 eur."],
    "tr": ["Kule 330 metre yüksek.", "Fiyat 12 euro olarak açık.", "Şehir çok büyük ve yüksek."],
}
"""Sentences of the length of a short answer."""


@pytest.mark.parametrize("text", [text for texts in SHORT.values() for text in texts])
def test_a_short_sentence_of_another_language_is_not_taken_for_english(text):
    code = detect(text)
    assert code is not None
    assert code != "en"


@pytest.mark.parametrize(("code", "texts"), SHORT.items())
def test_some_short_sentences_together_tell_their_language(code, texts):
    near = {"sv": {"sv", "da"}, "pt": {"pt", "es"}}.get(code, {code})
    assert detect(" ".join(texts)) in near


def test_what_stands_before_tells_the_language_of_a_sentence_that_does_not():
    before = "La tour a été construite en 1889 pour une exposition, et elle est très haute."
    assert detect("Gustave Eiffel habitait Dijon.", before=before) == "fr"
    assert detect("The lift is closed.", before=before) == "en"
    assert detect("Gustave Eiffel lived in Dijon.", before=before) is None


@given(st.sampled_from(ENGLISH), st.lists(st.sampled_from(ENGLISH), max_size=3))
def test_english_behind_english_stays_english(text, before):
    assert detect(text, before=" ".join(before)) in {None, "en"}


@pytest.mark.parametrize("text", ["", "  ", "42 %", "x = y + 1", "OK", "Nimbra R2", "Berlin"])
def test_too_little_to_tell_is_none(text):
    assert detect(text) is None


@given(st.text(max_size=300))
def test_any_text_gets_a_code_or_none(text):
    code = detect(text)
    assert code is None or (len(code) == 2 and code.islower())
