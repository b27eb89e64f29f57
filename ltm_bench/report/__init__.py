"""Renders results: the run page, the transcript, comparisons, and charts for papers.

    text         makes any text safe to show
    words        writes figures: scores, durations, costs, counts
    findings     what a comparison shows, in a sentence
    drawing      SVG paths for the pages
    templating   the Jinja environment of every page
    anchors      where a link into a page points
    page, transcript, compare_page   one page each
    charts, plotting                 pictures drawn with Altair, one file each, and what they share

This room only renders its input: `Results`, a `Manifest` and, for the transcript, the turns that it is given while a
log is read. It scores nothing and prints nothing. Others find runs and serve pages.
"""
