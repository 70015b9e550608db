"""Define the errors for invalid schemas, values and tags."""


class FieldError(ValueError):
    """The field list of a schema is invalid.

    `path` locates the problem, for example `fields.2.columns.0.type`. `code` is
    `validation_error`, `duplicate_field_name` or `invalid_field_type`.
    """

    def __init__(self, path: str, message: str, code: str = "validation_error") -> None:
        super().__init__(f"{path}: {message}")
        self.code = code
        self.path = path
        self.message = message


class ValueProblem(ValueError):  # noqa: N818 - an invalid value from a client, not a failure
    """A value is not valid for its field. `message` says why, without repeating the value."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class TagProblem(ValueProblem):
    """A tag or its evidence is invalid. `path` is relative to the tag or to the evidence."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(message)
        self.path = path


class TagErrors(ValueError):  # noqa: N818 - contains several errors
    """Tags are invalid. `errors` is a list of (path, message) pairs.

    An example path is `tags.3.value`.
    """

    def __init__(self, errors: list[tuple[str, str]]) -> None:
        super().__init__("; ".join(f"{path}: {message}" for path, message in errors[:5]))
        self.errors = errors
