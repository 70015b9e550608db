"""Request handlers for pages with a form: GET shows the form, POST performs the action.

GET and HEAD change nothing, because mail programs and scanners open links automatically. POST does
the same as the corresponding API operation: it uses the same service and rate limit, writes the
same audit entry and commits once.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from flask import Response, g, request
from sqlalchemy.exc import SQLAlchemyError

from app.identity.pages import rendering
from app.identity.pages.problems import Problem, find_problem
from app.identity.pages.rendering import View
from app.identity.pages.token_pages import Context, Form, FormPage
from app.kit import audit, db, db_errors, ratelimit
from app.kit.api import requests
from app.kit.errors import ApiError

_MAX_FORM_BYTES = 16 * 1024
_ALLOWED_FETCH_SITES = {"same-origin", "none"}
_BAD_REQUEST = 400
_PROBLEMS_SOLVED_BY_NEW_LINK = {"link_invalid", "invitation_revoked", "invitation_expired"}


@contextmanager
def _translate_errors() -> Iterator[None]:
    """Convert database errors to API errors, and roll the transaction back on any error."""
    try:
        yield
    except ApiError:
        db.session().rollback()
        raise
    except SQLAlchemyError as failure:
        db.session().rollback()
        raise db_errors.translate(failure) from failure


def show(page: FormPage) -> Response:
    """Handle GET and HEAD requests: show the page with its form. The token stays valid."""
    g.operation = f"show_{page.name}"
    language = rendering.choose_language(request.args.get("lang", ""))
    token = request.args.get("token", "")
    try:
        context = _read_context(page, token, language)
    except ApiError as error:
        return _render_error(page, error, language)
    return rendering.render(_build_form_view(page, token, {}, context, []), language)


def submit(page: FormPage) -> Response:
    """Handle POST requests: perform the action, or show the form again with the problems."""
    g.operation = f"submit_{page.name}"
    if page.one_click and "token" in request.args:
        return _submit_link(page, request.args["token"])
    try:
        _check_site()
        form, _ = requests.read_form_body(page.form(), _MAX_FORM_BYTES)
    except ApiError as error:
        return _render_error(page, error, rendering.choose_language(""))
    language = rendering.choose_language(form["lang"])
    try:
        context = _read_context(page, form["token"], language)
        problems = page.check(form, context)
        if not problems:
            _perform_action(page, form, context)
            return rendering.render(_build_done_view(page, context), language, page.done_status)
    except ApiError as error:
        return _render_form_with_error(page, form, error, language)
    view = _build_form_view(page, form["token"], form, context, problems)
    return rendering.render(view, language, _BAD_REQUEST)


def _submit_link(page: FormPage, token: str) -> Response:
    """Perform the action without a form. The request body is read but ignored."""
    language = rendering.choose_language(request.args.get("lang", ""))
    try:
        requests.read_body(_MAX_FORM_BYTES)
        context = _read_context(page, token, language)
        _perform_action(page, {"token": token}, context)
    except ApiError as error:
        return _render_error(page, error, language)
    return rendering.render(_build_done_view(page, context), language, page.done_status)


def _check_site() -> None:
    """Check the origin of a form; raise 403 if the browser reports that another site sent it.

    This is a second line of defense, because a forged request also needs the token.
    """
    site = request.headers.get("Sec-Fetch-Site")
    if site is not None and site not in _ALLOWED_FETCH_SITES:
        raise ApiError(
            "permission_denied",
            "The form was sent by another site.",
            details={"reason": "other_site"},
        )


def _read_context(page: FormPage, token: str, language: str) -> Context:
    """Read the values that the page shows, in a separate read-only transaction.

    Raises `ApiError` if the token is not valid or the page is not available for it.
    """
    db.set_read_only(read_only=True)
    try:
        with _translate_errors():
            return page.read(token, language)
    finally:
        # The action runs in a new transaction, which must read everything again.
        db.session().close()
        db.set_read_only(read_only=False)


def _perform_action(page: FormPage, form: Form, context: Context) -> None:
    if page.limit:
        ratelimit.check(page.limit, lambda: "")
    audit.bind_operation(
        page.operation,
        record_type=page.record_type,
        request_id=g.request_id,
        ip_address=request.remote_addr,
    )
    with _translate_errors():
        page.perform(form, context)
        db.session().commit()


def _render_form_with_error(page: FormPage, form: Form, error: ApiError, language: str) -> Response:
    """Render the form with the error, or only the error if the form cannot be shown again."""
    try:
        context = _read_context(page, form["token"], language)
    except ApiError:
        return _render_error(page, error, language)
    problem = _find_problem(page, error, language)
    view = _build_form_view(page, form["token"], form, context, [problem])
    return rendering.render(view, language, error.status, error.headers)


def _render_error(page: FormPage, error: ApiError, language: str) -> Response:
    """Render an error without the form and, if useful, explain how to get a new link."""
    problem = _find_problem(page, error, language)
    needs_new_link = problem.phrase in _PROBLEMS_SOLVED_BY_NEW_LINK
    view = View(
        title=f"{page.name}.title",
        problems=[problem],
        paragraphs=[f"{page.name}.again"] if needs_new_link else [],
        next_page=page.new_link_page if needs_new_link else None,
    )
    return rendering.render(view, language, error.status, error.headers)


def _find_problem(page: FormPage, error: ApiError, language: str) -> Problem:
    return page.phrases.get(error.code) or find_problem(error, language)


def _build_form_view(
    page: FormPage, token: str, form: Form, context: Context, problems: list[Problem]
) -> View:
    paragraph = "existing" if context.get("has_account") else "intro"
    return View(
        title=f"{page.name}.title",
        paragraphs=[f"{page.name}.{paragraph}"],
        values=context,
        problems=problems,
        action=str(page.page),
        token=token,
        inputs=page.inputs(form, context),
        button=f"{page.name}.button",
    )


def _build_done_view(page: FormPage, context: Context) -> View:
    return View(title=f"{page.name}.done_title", paragraphs=[f"{page.name}.done"], values=context)
