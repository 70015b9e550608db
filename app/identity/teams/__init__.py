"""Teams: groups of members that form a tree and have skills."""
