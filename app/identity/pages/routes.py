"""Routes of the pages.

They are not operations of the API, and are not in its description.
"""

from collections.abc import Callable

from flask import Blueprint, Response

from app.identity.pages import handling, opening
from app.identity.pages.token_pages import FORM_PAGES, FormPage
from app.kit.links import WebPage

blueprint = Blueprint(
    "pages",
    __name__,
    template_folder="templates",
    static_folder="static",
    static_url_path="/pages/static",
)


def _bind(handle: Callable[[FormPage], Response], page: FormPage) -> Callable[[], Response]:
    return lambda: handle(page)


for _page in FORM_PAGES:
    blueprint.add_url_rule(
        str(_page.page), f"show_{_page.name}", _bind(handling.show, _page), methods=["GET"]
    )
    blueprint.add_url_rule(
        str(_page.page), f"submit_{_page.name}", _bind(handling.submit, _page), methods=["POST"]
    )


@blueprint.get(f"{WebPage.OPEN}/<slug>/<path:resource>")
def show_open(slug: str, resource: str) -> Response:
    """Show what the link of a notification leads to."""
    return opening.show(slug, resource)
