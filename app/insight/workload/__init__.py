"""Work lists of users, and workloads of teams."""
