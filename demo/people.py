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
"""Role and name of each."""


def build_address(who: str) -> str:
    """Return the email address of one of PEOPLE."""
    return f"{who}@demo.example"
