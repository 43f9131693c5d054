"""Lets links that lead out of docs/ lead to the repository, and fails for links to files that do not exist. Lets the search
prefer pages that answer questions to pages with many words, and work without another host."""

import os
import re

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File
from mkdocs.utils import get_relative_url

LINK = re.compile(r"(\]\()((?:\.\./)+)([^)#\s]*)(#[^)\s]*)?(\))")

SHIM = "https://unpkg.com/iframe-worker/shim"  # what the plugin for offline use loads from another host
WORKER = "worker.js"  # what the site has instead


def on_files(files, config):
    here = os.path.dirname(os.path.abspath(__file__))
    files.append(File.generated(config, WORKER, abs_src_path=os.path.join(here, WORKER)))


def on_post_page(output, page, config):
    return output.replace(SHIM, get_relative_url(WORKER, page.url))


def on_post_template(output, template_name, config):
    return output.replace(SHIM, "/" + WORKER)


# How much more than other pages a page counts in the search.
BOOSTS = {"questions": 5, "benchmarks": 0.1, "guarantees": 0.3, "glossary": 0.5, "defaults": 0.5, "comparison": 0.5, "keys": 0.5}
DECISIONS = 0.05


def on_page_markdown(markdown, page, config, files):
    name = page.file.src_path.removesuffix(".md")
    page.meta["search"] = {"boost": DECISIONS if name.startswith("adr/") else BOOSTS.get(name, 1)}
    root = os.path.dirname(config.config_file_path)
    folder = os.path.dirname(page.file.src_path)

    def replace(found):
        path = os.path.normpath(os.path.join("docs", folder, found[2] + found[3]))
        if path.startswith("docs" + os.sep):
            return found[0]
        if not os.path.exists(os.path.join(root, path)):
            raise PluginError(f"{page.file.src_path} links to {path}, which does not exist")
        sort = "tree" if os.path.isdir(os.path.join(root, path)) else "blob"
        return f"{found[1]}{config.repo_url}/{sort}/main/{path}{found[4] or ''}{found[5]}"

    return LINK.sub(replace, markdown)
