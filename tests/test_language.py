from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify.language import detect

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


@pytest.mark.parametrize("text", ["", "  ", "42 %", "x = y + 1", "OK", "Nimbra R2", "Berlin"])
def test_too_little_to_tell_is_none(text):
    assert detect(text) is None


@given(st.text(max_size=300))
def test_any_text_gets_a_code_or_none(text):
    code = detect(text)
    assert code is None or (len(code) == 2 and code.islower())
