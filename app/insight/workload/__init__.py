"""Work lists and workloads of members and teams."""
