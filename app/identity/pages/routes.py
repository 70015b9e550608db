"""Flask routes for the web pages that emails link to.

The routes are not part of the API or its OpenAPI description.
"""

from functools import partial

from flask import Blueprint

from app.identity.pages import handling, opening
from app.identity.pages.token_pages import FORM_PAGES, UNSUBSCRIBE
from app.kit.links import WebPage

blueprint = Blueprint("pages", __name__, static_folder="static", static_url_path="/pages/static")


for _page in (*FORM_PAGES, UNSUBSCRIBE):
    for _method, _handle in (("GET", handling.show), ("POST", handling.submit)):
        blueprint.add_url_rule(
            str(_page.page),
            f"{_handle.__name__}_{_page.name}",
            partial(_handle, _page),
            methods=[_method],
        )
blueprint.add_url_rule(
    f"{WebPage.OPEN}/<slug>/<path:resource>", "show_open", opening.show, methods=["GET"]
)
