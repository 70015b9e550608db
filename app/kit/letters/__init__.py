"""Letters: mail whose words lie in one file per language, queued in the transaction of its cause.

`wording` reads the files, `layout` makes text and HTML of a letter, `sending` queues and sends.
`messages` are words of the same kind for what is stored and shown: notifications.
"""

from app.kit.letters.layout import Rendered
from app.kit.letters.messages import Message, Messages
from app.kit.letters.sending import FOLDERS, Letter, Letters

__all__ = ["FOLDERS", "Letter", "Letters", "Message", "Messages", "Rendered"]
