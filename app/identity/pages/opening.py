"""The page that a notification link opens: it names the link's target and shows how to open it.

The page is built only from the link. It reads none of the organization's data, so a visitor who is
not signed in learns nothing, not even whether the linked record exists.
"""

import re
from urllib.parse import urlencode

from flask import Response, g, request

from app.identity.organizations.slugs import is_slug
from app.identity.pages import rendering
from app.identity.pages.problems import Problem
from app.identity.pages.rendering import View
from app.kit import container, links

_ID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_SLUG = r"[a-z0-9-]{3,63}"
TARGETS = {
    rf"artifacts/{_ID}": "document",
    rf"tag-sets/{_ID}": "tag_set",
    rf"tag-sets/{_ID}/comments": "comments",
    r"tag-sets": "tag_sets",
    rf"review-queue/{_ID}": "review",
    r"review-queue": "reviews",
    r"users/me/assignments": "assignments",
    rf"webhooks/{_ID}": "webhook",
    rf"connectors/{_ID}/alerts": "alerts",
    rf"organizations/{_SLUG}/api-keys": "api_keys",
    rf"organizations/{_SLUG}/members": "members",
    rf"exports/{_ID}": "export",
    r"quality/drift": "drift",
    r"billing/usage": "usage",
}
"""Maps path patterns of notification links to keys in the language files' TOML table `open`."""
PARAMETERS = {
    "kind": r"label|review",
    "escalated": r"true",
    "status": r"draft|submitted|accepted|rejected",
    "labeler_id": _ID,
    "detection_id": _ID,
}
"""Maps the query parameters of notification links to value patterns."""
_NOT_FOUND = 404


def show(slug: str, resource: str) -> Response:
    """Show the page for a notification's link; respond with 404 to any other link."""
    g.operation = "show_open"
    language = rendering.choose_language(request.args.get("lang", ""))
    phrase_key = _find_phrase_key(resource) if is_slug(slug) else None
    if phrase_key is None:
        view = View(title="open.title", problems=[Problem("target_unknown")])
        return rendering.render(view, language, _NOT_FOUND)
    return rendering.render(_build_view(slug, resource, phrase_key, language), language)


def _find_phrase_key(resource: str) -> str | None:
    return next((key for pattern, key in TARGETS.items() if re.fullmatch(pattern, resource)), None)


def _build_view(slug: str, resource: str, phrase_key: str, language: str) -> View:
    settings = container.settings()
    query = urlencode(_read_parameters())
    path = f"/api/v1/{resource}" + (f"?{query}" if query else "")
    front_end_url = None
    if settings.frontend_url:
        link = links.build_open_link(path, org_slug=slug, language=language)
        front_end_url = links.build_absolute_url(link)
    return View(
        title=f"open.{phrase_key}",
        paragraphs=["open.intro", "open.front_end" if front_end_url else "open.api"],
        values={"organization": slug},
        request_lines=[
            f"GET {settings.public_url}{path}",
            "Authorization: Bearer …",
            f"X-Org-Slug: {slug}",
        ],
        link=front_end_url,
    )


def _read_parameters() -> dict[str, str]:
    """Return the request's query parameters that are valid in notification links."""
    parameters = ((name, request.args.get(name, "")) for name in PARAMETERS)
    return {name: value for name, value in parameters if re.fullmatch(PARAMETERS[name], value)}
