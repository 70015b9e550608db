"""Read documents from folders, object stores, file servers, web servers and mailboxes."""
