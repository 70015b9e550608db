"""What goes wrong when a schema, a value or a label set does not fit."""


class FieldError(ValueError):
    """A schema's field list breaks a rule.

    `code` is `duplicate_field_name`, `invalid_field_type` or `validation_error`; `path` names the
    culprit, such as `fields.2.columns.0.type`.
    """

    def __init__(self, code: str, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.code = code
        self.path = path
        self.message = message


class ValueProblem(ValueError):  # noqa: N818 - the client's value, not a failure
    """A value does not fit its field; `message` says why, without repeating the value."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class TagErrors(ValueError):  # noqa: N818 - it holds several
    """Tags that do not fit: `errors` holds (path, message) pairs, such as `tags.3.value`."""

    def __init__(self, errors: list[tuple[str, str]]) -> None:
        super().__init__("; ".join(f"{path}: {message}" for path, message in errors[:5]))
        self.errors = errors
