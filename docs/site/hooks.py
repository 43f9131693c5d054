"""Lets links that lead out of docs/ lead to the repository, and fails for links to files that do not exist."""

import os
import re

from mkdocs.exceptions import PluginError

LINK = re.compile(r"(\]\()((?:\.\./)+)([^)#\s]*)(#[^)\s]*)?(\))")


def on_page_markdown(markdown, page, config, files):
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
