"""The users of the demo organization, by the first part of their email addresses."""

PEOPLE: dict[str, tuple[str, str]] = {
    "owner": ("owner", "Olivia Owner"),
    "admin": ("admin", "Adam Admin"),
    "reviewer": ("reviewer", "Rita Reviewer"),
    "reviewer-2": ("reviewer", "Ron Reviewer"),
    "labeler": ("labeler", "Leo Labeler"),
    "labeler-2": ("labeler", "Lea Labeler"),
    "labeler-3": ("labeler", "Lin Labeler"),
    "viewer": ("viewer", "Vera Viewer"),
}
"""The role and the name of each user."""


def build_address(person: str) -> str:
    """Return the email address of a user in PEOPLE."""
    return f"{person}@demo.example"
