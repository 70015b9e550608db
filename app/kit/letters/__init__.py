"""Emails from templates in one file per language, queued in the transaction of their cause.

`wording` reads the templates, `layout` renders an email as text and HTML, and `sending` queues and
sends emails. `messages` renders notifications, and `phrases` the texts of web pages.
"""

from app.kit.letters.layout import Rendered
from app.kit.letters.messages import Message, Messages
from app.kit.letters.sending import FOLDERS, Letter, Letters

__all__ = ["FOLDERS", "Letter", "Letters", "Message", "Messages", "Rendered"]
