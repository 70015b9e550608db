"""SQL of labeling schemas: records, versions, what stands in the way of deleting, statistics."""
