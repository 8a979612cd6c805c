"""Sphinx on the pages that tools/make_site has put together."""

project = "Assay"
author = "The Assay authors"
copyright = "Apache License 2.0"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["README.md"]

# GitHub's Markdown, which the pages are written in, with its names of headings.
myst_heading_anchors = 5
myst_enable_extensions = []
suppress_warnings = ["myst.header"]  # a page may begin at any level
highlight_language = "none"

html_theme = "furo"
html_title = "Assay"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_last_updated_fmt = None
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#0b5394",
        "color-brand-content": "#0b5394",
        "color-brand-visited": "#6a3d8f",
        "color-foreground-muted": "#565a5e",
        "color-foreground-secondary": "#4a4d51",
    },
    "dark_css_variables": {
        "color-brand-primary": "#7fb8ee",
        "color-brand-content": "#7fb8ee",
        "color-brand-visited": "#c9a5e8",
        "color-foreground-muted": "#a5abb1",
        "color-foreground-secondary": "#b9bfc5",
    },
}
