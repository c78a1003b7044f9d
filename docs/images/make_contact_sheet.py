"""Make the contact sheet of the guide to images.

    PYTHONPATH=docs/examples python docs/images/make_contact_sheet.py

A model is fitted to 300 scenes; ten new scenes get the tags it recommends, each with its heat map.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image, ImageDraw, ImageFont
from scenes import make_scenes, write_scenes

import tagtopics as tt
from tagtopics.explore.record.heat_maps import TagMaps, recommended_tags, tag_maps

GAP, CAPTION = 6, 22


def write_sheet(sheet: Sequence[TagMaps], path: str | Path) -> None:
    """Write a contact sheet: one row per image, with the image first and then the heat map of each tag."""
    widest = max(len(maps.tags) for maps in sheet) + 1
    wide = max(maps.tiles.pixels.shape[1] for maps in sheet)
    high = max(maps.tiles.pixels.shape[0] for maps in sheet)
    canvas = Image.new("RGB", (widest * (wide + GAP) + GAP, len(sheet) * (high + CAPTION) + GAP), "white")
    draw, font = ImageDraw.Draw(canvas), ImageFont.load_default(11)
    for row, maps in enumerate(sheet):
        pictures = [
            (Path(maps.name).stem, maps.tiles.pixels),
            *((tag, maps.overlay(tag)) for tag in maps.tags),
        ]
        for column, (caption, pixels) in enumerate(pictures):
            left, top = GAP + column * (wide + GAP), GAP + row * (high + CAPTION)
            canvas.paste(Image.fromarray(pixels), (left, top))
            draw.text((left, top + pixels.shape[0] + 2), caption[:36], fill="black", font=font)
    canvas.save(path, optimize=True)


with TemporaryDirectory() as folder:
    write_scenes(folder, make_scenes(300))
    model = tt.TTM(n_topics=24, random_state=0).fit(tt.read_corpus(folder))
sheet = []
for scene in make_scenes(10, seed=2026):
    tags = recommended_tags(model, scene.pixels)
    truth = ", ".join(scene.tags)
    sheet.append(replace(tag_maps(model, scene.pixels, tags), name=truth))
path = Path(__file__).with_name("scenes.png")
write_sheet(sheet, path)
with Image.open(path) as full:  # smaller, for the repository
    small = full.resize((full.width * 3 // 5, full.height * 3 // 5), Image.Resampling.LANCZOS)
small.quantize(256, kmeans=2, dither=Image.Dither.NONE).save(path, optimize=True)
