"""The users of the demo organization."""

USERS: dict[str, tuple[str, str]] = {
    "owner": ("owner", "Olivia Owner"),
    "admin": ("admin", "Adam Admin"),
    "reviewer": ("reviewer", "Rita Reviewer"),
    "reviewer-2": ("reviewer", "Ron Reviewer"),
    "labeler": ("labeler", "Leo Labeler"),
    "labeler-2": ("labeler", "Lea Labeler"),
    "labeler-3": ("labeler", "Lin Labeler"),
    "viewer": ("viewer", "Vera Viewer"),
}
"""The role and the name of each user, by the part of the email address before the @."""


def build_address(person: str) -> str:
    """Return the email address for a key of USERS."""
    return f"{person}@demo.example"
