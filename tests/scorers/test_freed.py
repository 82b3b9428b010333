from __future__ import annotations

import platform

import pytest

from streamverify.scorers.freed import give_back


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library")
def test_the_heap_is_given_back_where_it_can_be() -> None:
    assert give_back()


def test_another_c_library_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "libc_ver", lambda: ("", ""))
    assert not give_back()
