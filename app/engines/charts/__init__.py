"""Render charts as PNG or SVG.

`service.render`, which the application calls, renders any chart in a child process that has loaded
the plotting library, so the caller imports no large library and waits for a limited time.
`drawing.render_chart` renders in the current process, one chart at a time.

The same content gives the same bytes. User text is treated as data: markup and formulas have no
effect, and long text is truncated with an ellipsis. See docs/decisions/0061-charts.md.
"""
