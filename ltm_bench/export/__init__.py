"""Runs for other programs and other people: export formats, and bundles that can be checked.

    source, rows   what a format is given: results, manifest and turns; one flat row per question
    formats        one file per format
    scrub          removes secrets from text
    bundle         packs the files of a run into a zip, and unpacks it
    verify         checks that a run agrees with itself

This room never scores a reply. It does not find runs, choose where to write files, or print.
"""
