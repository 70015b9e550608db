"""Sign in as a person with a browser would: from the service to its provider and back.

Usage: browser.py SERVICE ORG EMAIL NAME [SAML], where SAML is the address of the SAML provider's
metadata. Prints the access token. The browser's part is: follow redirects, keep cookies, send the
forms that are shown. At the providers of `identity_providers.py` whoever comes says who they are.
"""

import re
import sys
from html import unescape
from urllib.parse import urlencode, urljoin

import requests
from lxml import etree

STEPS = 12
FORM = re.compile(r'<form[^>]*action="([^"]*)"')
INPUT = re.compile(r'<input[^>]*type="hidden"[^>]*name="(\w+)"[^>]*value="([^"]*)"')


def introduce(
    browser: requests.Session, api: str, org: str, saml: str, who: dict[str, str]
) -> None:
    """What the SAML provider's administrator does: tell it of the service, and of the person."""
    root = etree.fromstring(browser.get(f"{api}/auth/sso/{org}/saml/metadata", timeout=10).content)
    acs = root.find("{*}SPSSODescriptor/{*}AssertionConsumerService")
    user = {"id": who["sub"], "email": who["email"], "name": who["name"], "groups": []}
    service = {"audience": root.get("entityID"), "acs": acs.get("Location"), "user": user}
    browser.put(urljoin(saml, "/services"), json=service, timeout=10).raise_for_status()


def sign_in(browser: requests.Session, url: str, who: dict[str, str]) -> str:
    """Follow the provider's pages; the one-time code that the service answers in the end."""
    answer = browser.get(url, timeout=10)
    for _ in range(STEPS):
        if answer.headers["Content-Type"].startswith("application/json"):
            if "data" not in answer.json():
                sys.exit(answer.text)
            return answer.json()["data"]["code"]
        action = FORM.search(answer.text)
        if action is None:
            sys.exit(answer.text)
        values = {name: unescape(value) for name, value in INPUT.findall(answer.text)}
        if values.get("prompt") == "login":
            values |= {"login": urlencode(who), "password": "x"}
        answer = browser.post(urljoin(answer.url, unescape(action[1])), data=values, timeout=10)
    sys.exit("The provider comes to no end.")


def main() -> None:
    service, org, email, name, *saml = sys.argv[1:]
    who = {"sub": email, "email": email, "email_verified": "true", "name": name}
    api = f"{service}/api/v1"
    browser = requests.Session()
    browser.trust_env = False
    if saml:
        introduce(browser, api, org, saml[0], who)
    started = browser.post(f"{api}/auth/sso/start", json={"org_slug": org}, timeout=10)
    if "data" not in started.json():
        sys.exit(started.text)
    code = sign_in(browser, started.json()["data"]["redirect_url"], who)
    answer = browser.post(f"{api}/auth/sso/exchange", json={"code": code}, timeout=10)
    print(answer.json()["data"]["access_token"])


if __name__ == "__main__":
    main()
