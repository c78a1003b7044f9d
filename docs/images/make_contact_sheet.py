"""Make the contact sheet of the guide to images: `python docs/images/make_contact_sheet.py`.

A model is fitted on the data set "scenes"; ten new scenes get the tags it recommends, each with its heat map.
"""

from dataclasses import replace
from pathlib import Path

from PIL import Image

import tagtopics as tt
from tagtopics.datasets import make_scenes
from tagtopics.views.heat_maps import recommended_tags, tag_maps, write_sheet

model = tt.TTM(n_topics=24, random_state=0).fit(tt.load_dataset("scenes"))
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
