"""People sign in to the workbench at the identity provider of their organization."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.workbench.driver import NODE, Walker

pytestmark = pytest.mark.xdist_group("workbench")

HOST = "127.0.0.2"
PROVIDERS = Path(__file__).parents[2] / "tools" / "providers"
WALK = Path(__file__).parent / "driven" / "sign_on.mjs"


@pytest.fixture(scope="module")
def issuer(walker: Walker) -> Iterator[str]:
    """Run npm's oidc-provider for the service, and return its issuer."""
    assert (PROVIDERS / "node_modules").is_dir(), "make .venv/providers.stamp installs them"
    process = subprocess.Popen(
        [str(NODE), str(PROVIDERS / "openid.mjs")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    callback = f"{walker.base}/api/v1/auth/sso/oidc/callback"
    process.stdin.write(json.dumps({"host": HOST, "callback": callback}) + "\n")
    process.stdin.flush()
    try:
        yield process.stdout.readline().strip()
    finally:
        process.stdin.close()
        process.wait(60)


def test_a_new_member_signs_in_at_the_provider(walker: Walker, issuer: str) -> None:
    walker.walk(WALK, "a_new_member_signs_in", issuer=issuer)


def test_an_owner_confirms_the_first_sign_on_by_email(walker: Walker, issuer: str) -> None:
    walker.walk(WALK, "an_owner_confirms_by_email", issuer=issuer)


def test_an_owner_configures_sign_on(walker: Walker, issuer: str) -> None:
    walker.walk(WALK, "an_owner_configures_sign_on", issuer=issuer)
