"""A real browser for tests: Chromium, which tools/browser/browser.mjs drives line by line."""

from typing import Any

from tests.factories.browsers import TOOLS, BrowserProcess

LANGUAGES = {"en": "en-US", "de": "de-DE"}


class Browser(BrowserProcess):
    """A browser process. Each command returns what the page shows afterwards."""

    def __init__(self) -> None:
        super().__init__(TOOLS / "browser.mjs")

    def begin(self, language: str = "en", *, width: int = 1280, cookies: Any = ()) -> None:
        """Start with an empty profile, except for `cookies`."""
        self._do("begin", locale=LANGUAGES[language], width=width, cookies=list(cookies))

    def open(self, url: str) -> dict[str, Any]:
        return self._page("open", url=url)

    def fill(self, **values: str) -> None:
        """Type into the fields with these labels; `_` stands for a space."""
        self._do("fill", values={label.replace("_", " "): text for label, text in values.items()})

    def press(self, key: str) -> dict[str, Any]:
        return self._page("press", key=key)

    def follow(self) -> dict[str, Any]:
        """Follow the link that has the focus."""
        return self._page("follow")

    def submit(self) -> dict[str, Any]:
        return self._page("submit")

    def check_accessibility(self) -> None:
        """Fail on violations of WCAG 2.2 AA that axe-core finds."""
        result = self._do("check")
        assert {"html-has-lang", "document-title", "color-contrast"} <= set(result["passes"])
        assert result["violations"] == []

    def _page(self, name: str, **arguments: Any) -> dict[str, Any]:
        shown: dict[str, Any] = self._do(name, **arguments)
        # On every page: no resource was blocked, the URL does not leak, and no content is cut off.
        assert shown["blocked"] == []
        assert shown["referers"] == []
        assert shown["overflow"] <= 0
        return shown

    def _do(self, name: str, **arguments: Any) -> Any:
        return self.send({"do": name, **arguments})
