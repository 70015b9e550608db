"""Sign in as a person does with a browser: from the service to an identity provider and back.

Usage: browser.py SERVICE ORG EMAIL NAME [SAML], where SERVICE is the URL of the service, ORG is the
organization's slug, and SAML is the URL of the SAML provider's metadata. Prints the access token.
Like a browser, it keeps cookies and sends forms. `identity_providers.py` accepts any person.
"""

import re
import sys
from html import unescape
from urllib.parse import urlencode, urljoin

import requests
from lxml import etree

MAX_STEPS = 12
FORM = re.compile(r'<form[^>]*action="([^"]*)"')
INPUT = re.compile(r'<input[^>]*type="hidden"[^>]*name="(\w+)"[^>]*value="([^"]*)"')


def register_service(
    browser: requests.Session, api: str, org: str, saml: str, who: dict[str, str]
) -> None:
    """Register the service and the person at the SAML provider, as its administrator does."""
    root = etree.fromstring(browser.get(f"{api}/auth/sso/{org}/saml/metadata", timeout=10).content)
    acs = root.find("{*}SPSSODescriptor/{*}AssertionConsumerService")
    user = {"id": who["sub"], "email": who["email"], "name": who["name"], "groups": []}
    service = {"audience": root.get("entityID"), "acs": acs.get("Location"), "user": user}
    browser.put(urljoin(saml, "/services"), json=service, timeout=10).raise_for_status()


def sign_in(browser: requests.Session, url: str, who: dict[str, str]) -> str:
    """Send the provider's forms; return the service's one-time code, or exit with an error."""
    response = browser.get(url, timeout=10)
    for _ in range(MAX_STEPS):
        if response.headers["Content-Type"].startswith("application/json"):
            if "data" not in response.json():
                sys.exit(response.text)
            return response.json()["data"]["code"]
        action = FORM.search(response.text)
        if action is None:
            sys.exit(response.text)
        values = {name: unescape(value) for name, value in INPUT.findall(response.text)}
        if values.get("prompt") == "login":
            values |= {"login": urlencode(who), "password": "x"}
        target = urljoin(response.url, unescape(action[1]))
        response = browser.post(target, data=values, timeout=10)
    sys.exit(f"The sign-in at the provider was not completed after {MAX_STEPS} pages.")


def main() -> None:
    service, org, email, name, *saml = sys.argv[1:]
    who = {"sub": email, "email": email, "email_verified": "true", "name": name}
    api = f"{service}/api/v1"
    browser = requests.Session()
    browser.trust_env = False
    if saml:
        register_service(browser, api, org, saml[0], who)
    started = browser.post(f"{api}/auth/sso/start", json={"org_slug": org}, timeout=10)
    if "data" not in started.json():
        sys.exit(started.text)
    code = sign_in(browser, started.json()["data"]["redirect_url"], who)
    response = browser.post(f"{api}/auth/sso/exchange", json={"code": code}, timeout=10)
    print(response.json()["data"]["access_token"])


if __name__ == "__main__":
    main()
