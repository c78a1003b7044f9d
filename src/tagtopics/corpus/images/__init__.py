"""Photographs as documents: pixels to visual words, and folders of images to documents.

`decode` opens a file safely, `descriptors` turns pixels into features of tiles, `vocabulary` learns the
codebooks and counts visual words, `folder` and `tagfiles` read a folder of images with its tags, `settings`
checks and stores the settings of a vocabulary.
"""
