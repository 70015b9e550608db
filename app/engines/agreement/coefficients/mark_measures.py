measure_marks = measure_mark_pairs = None
