"""Which domains there are: by name, from other packages, and what is refused as none."""

from __future__ import annotations

import pytest
from pydantic import BaseModel

from streamverify import UsageError
from streamverify.domains import Domain, DomainGate, Domains, aggregate, company_expert, installed


class Recipe(BaseModel):
    """A third domain's output."""

    title: str


RECIPES = Domain(name="recipes", version="1", output=Recipe)


def test_domains_are_found_by_name(monkeypatch):
    domains = Domains([RECIPES], installed=False)
    assert domains.names == ("recipes",)
    assert domains.get("recipes") is RECIPES
    with pytest.raises(UsageError, match="there is no domain 'cars'; there are recipes"):
        domains.get("cars")
    with pytest.raises(UsageError, match="there is a domain 'recipes' already"):
        domains.register(RECIPES)
    assert {"company_expert", "pc_expert"} <= set(installed().names)


def test_domains_of_other_packages_are_found_by_their_entry_points(tmp_path, monkeypatch):
    info = tmp_path / "kitchen-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: kitchen\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[streamverify.domains]\nrecipes = kitchen_domain:recipes\nbroken = kitchen_domain:nothing\n"
    )
    (tmp_path / "kitchen_domain.py").write_text(
        "from pydantic import BaseModel\n"
        "from streamverify.domains import Domain\n"
        "class Recipe(BaseModel):\n    title: str\n"
        "recipes = Domain(name='recipes', version='1', output=Recipe)\n"
        "nothing = 3\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    domains = installed()
    assert "recipes" in domains.names
    assert domains.get("recipes").version == "1"
    with pytest.raises(UsageError, match="the domain 'broken' that a package offers is int, no Domain"):
        domains.get("broken")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: DomainGate(metric="x"), "the gate on 'x' needs least or most"),
        (
            lambda: Domain(name="d", version="1", output=Recipe, gates=[DomainGate(metric="x", least=1)]),
            "domain 'd': no figure 'x' for a gate; it has output_valid",
        ),
        (
            lambda: Domain(name="d", version="1", output=Recipe, rules=company_expert().rules * 2),
            "two rules are called 'must_cite_if_claims'",
        ),
        (
            lambda: aggregate(RECIPES, [object.__new__(_Strange)]),
            "a result of 'cars' among those of 'recipes'",
        ),
    ],
)
def test_what_is_no_domain_is_refused(make, message):
    with pytest.raises(UsageError, match=message):
        make()


class _Strange:
    domain = "cars"
