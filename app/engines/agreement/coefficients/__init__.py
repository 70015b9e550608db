"""Measure the agreement of raters, with confidence intervals.

`ratings.build_ratings` reads the ratings of one field from database rows, and
`ratings.build_ratings_by_field` reads the ratings of several fields. `measuring.measure` computes a
coefficient over all raters, and `measuring.measure_pairs` computes it for each pair of raters.
`mark_sets.build_mark_sets`, `mark_measures.measure_marks` and `mark_measures.measure_mark_pairs` do
the same for text spans and page regions.

    ratings = build_ratings((document_id, labeler_id, value) for ...)
    estimate = measure(ratings, Metric.KRIPPENDORFF_ALPHA, resamples=1000, seed=13)

Results never contain NaN: an undefined coefficient is None and has a warning. The same ratings and
the same seed give the same interval, regardless of the order of the rows.

This package imports numpy, so import the package inside the job that needs it. The names of the
coefficients and the result types are in `app.engines.agreement.metrics`, which does not import
numpy.
"""
