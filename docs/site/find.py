#!/usr/bin/env python3
"""Looks for each question of questions.txt with the search of the built site, as a reader's browser does, and fails if the
section with the answer is not among the first three that are found."""

import json
import os
import sys

from lunr import lunr

here = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(here, "../../bin/site/search/search_index.json"), encoding="utf-8") as file:
    sections = json.load(file)["docs"]
index = lunr(
    ref="location",
    fields=[{"field_name": "title", "boost": 1000}, {"field_name": "text", "boost": 1}],
    documents=[(section, {"boost": section.get("boost", 1)}) for section in sections],
)
failed = False
with open(os.path.join(here, "questions.txt"), encoding="utf-8") as file:
    for line in file:
        if line.startswith("#") or not line.strip():
            continue
        question, answer = line.rstrip("\n").split("\t")
        found = [match["ref"].replace(".html", "") for match in index.search(question)[:3]]
        if answer not in found:
            failed = True
            print(f"{question!r} finds {found}, and not {answer}", file=sys.stderr)
sys.exit(failed)
