"""Emails. They are rendered from templates, and queued in the caller's transaction.

`templates` reads the templates, `layout` renders an email as text and HTML, and `sending` queues
and sends emails. `messages` renders notifications, and `phrases` reads phrases for web pages.
"""

from app.kit.emails.messages import Message, MessageTemplates
from app.kit.emails.sending import EMAILS_BY_NAME, Email, Emails

__all__ = ["EMAILS_BY_NAME", "Email", "Emails", "Message", "MessageTemplates"]
