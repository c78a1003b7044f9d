"""Photographs as documents: pixels to visual words, and folders of images to documents.

`decode` opens files safely, `descriptors` turns pixels into features of tiles, `vocabulary` learns codebooks,
counts visual words and stores its settings, `folder` reads a folder of images with its tags and registers the
format.
"""
