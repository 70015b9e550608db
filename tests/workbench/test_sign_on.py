"""People sign in to the workbench at the identity provider of their organization."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.identity.sso.conftest import run_openid_provider
from tests.workbench.driver import Walker

pytestmark = pytest.mark.xdist_group("workbench")

WALK = Path(__file__).parent / "driven" / "sign_on.mjs"


@pytest.fixture(scope="module")
def issuer(walker: Walker) -> Iterator[str]:
    """Run npm's oidc-provider for the service, and return its issuer."""
    with run_openid_provider(f"{walker.base}/api/v1/auth/sso/oidc/callback") as issuer:
        yield issuer


def test_a_new_member_signs_in_at_the_provider(walker: Walker, issuer: str) -> None:
    walker.walk(WALK, "a_new_member_signs_in", issuer=issuer)


def test_an_owner_confirms_the_first_sign_on_by_email(walker: Walker, issuer: str) -> None:
    walker.walk(WALK, "an_owner_confirms_by_email", issuer=issuer)


def test_an_owner_configures_sign_on(walker: Walker, issuer: str) -> None:
    walker.walk(WALK, "an_owner_configures_sign_on", issuer=issuer)
