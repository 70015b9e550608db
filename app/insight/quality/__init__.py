"""Quality metrics from daily aggregates of tag sets and review decisions."""
