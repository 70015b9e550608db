"""The teams of the demo organization, with keys of `USERS` as leads and members."""

from typing import Any

TEAMS: list[dict[str, Any]] = [
    {
        "name": "Document Operations",
        "parent": None,
        "lead": "admin",
        "members": [],
        "skills": [],
        "description": "Everybody who works on documents.",
    },
    {
        "name": "Invoices",
        "parent": "Document Operations",
        "lead": "reviewer",
        "members": ["labeler", "labeler-2", "labeler-3", "reviewer-2"],
        "skills": ["Invoices", "Line items", "German"],
        "description": "Invoices from suppliers, in any language.",
    },
    {
        "name": "Contracts",
        "parent": "Document Operations",
        "lead": "reviewer",
        "members": ["labeler", "reviewer-2", "owner"],
        "skills": ["Contracts", "Clauses"],
        "description": "Leases, non-disclosure and supply agreements.",
    },
]
