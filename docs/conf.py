"""How Sphinx builds the site: ``make docs``. Nothing is fetched, and the pages open offline.

Pages are Markdown, so that they read well in the repository too. What they refer to outside of this folder (recorded
benchmarks, the list of changes, the architecture) is copied into ``copied/`` when a build begins; links point there.
"""

import re
import shutil
from dataclasses import fields, is_dataclass
from importlib import import_module
from importlib.metadata import version as installed_version
from inspect import getdoc, isfunction
from os.path import relpath
from pathlib import Path
from typing import Any

from sphinx.pycode import ModuleAnalyzer

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
EXAMPLES = ROOT / "examples"
COPIED = DOCS / "copied"
BESIDE = ("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md")
"""Pages of the repository that are pages of the site, too."""
LINK = re.compile(r"\[(?P<words>[^\]]*)\]\((?P<to>[^()\s#]+)(?P<rest>(?:#[^()\s]*)?)\)")

project = "analogical"
author = "The analogical developers"
copyright = author  # noqa: A001
version = release = installed_version("analogical")

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
root_doc = "index"
highlight_language = "none"
templates_path = ["_templates"]
exclude_patterns = ["_build", "notebooks", "gallery/**.ipynb", "**/GALLERY_HEADER.*"]
nitpicky = True
nitpick_ignore_regex = [
    # Names of other libraries: their documentation is not fetched.
    ("py:.*", r"(collections|enum|matplotlib|np|numpy|pathlib|scipy|sklearn|typing)\..*"),
    # numpydoc takes the words of a type for names: "array of shape (m, n)", "ndarray of int", "optional".
    ("py:(class|obj)", r"[a-z0-9_ -]+|[^.]*[^A-Za-z0-9_.][^.]*"),
    # Types that stages hand to each other, and aliases of literals.
    ("py:(class|data|obj)", r"analogical\.(_|io|columns|outside|count|estimate|study|questions|show).*"),
]
# numpydoc refers to a property by its name alone, which several classes may have.
suppress_warnings = ["ref.python"]

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4

autosummary_generate = True
autodoc_typehints = "none"
autodoc_preserve_defaults = True
autodoc_member_order = "bysource"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True

html_theme = "pydata_sphinx_theme"
html_title = "analogical"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_context = {"default_mode": "auto"}
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "analogical"},
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
    "navbar_persistent": ["search-button"],
    "navbar_end": ["theme-switcher"],
    "show_toc_level": 2,
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "secondary_sidebar_items": ["page-toc"],
}
# Nothing to list at the left: they stand alone in their section, or beside twenty others with long names.
ALONE = (
    *("index", "start", "meaning", "limits", "cli", "benchmarks", "paper", "glossary", "changed"),
    *("copied/CHANGELOG", "copied/benchmarks/**"),
)
html_sidebars = {page: [] for page in ALONE}

sphinx_gallery_conf = {
    "examples_dirs": [str(EXAMPLES)],
    "gallery_dirs": ["gallery"],
    "backreferences_dir": "generated/examples",
    "doc_module": ("analogical",),
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "write_computation_times": False,
    "show_signature": False,
    "min_reported_time": 60,
    "abort_on_example_error": False,
}


def _classes() -> dict[str, dict[str, Any]]:
    """What the template of a class needs to know: results are returned, not made, so their signature says nothing."""
    found = {}
    for module in map(import_module, ("analogical", "analogical.paper", "analogical.rivals")):
        for name in module.__all__:
            thing = getattr(module, name)
            if isinstance(thing, type):
                text = getdoc(thing) or ""
                found[f"{module.__name__}.{name}"] = {
                    "call": "" if "Parameters\n-----" in text else "()",
                    "lists_attributes": "Attributes\n-----" in text or _has_fields(thing),
                    "methods": []
                    if name == "Study"  # functions ask it
                    else [m for m in dir(thing) if not m.startswith("_") and _is_ours(getattr(thing, m))],
                }
    return found


def _is_ours(member: Any) -> bool:
    """Whether a member is a method that this library defines; those of scikit-learn refer to its own pages."""
    return isfunction(member) and member.__module__.startswith("analogical")


def _has_fields(thing: Any) -> bool:
    """Whether a class has fields that its docstring does not describe: texts below them do."""
    return is_dataclass(thing) and not re.search("^(Attributes|Parameters)\n-----", getdoc(thing) or "", re.MULTILINE)


autosummary_context = {"classes": _classes()}
# "relevance" and "Relevance" are one file where names of files are told apart without regard to capitals.
autosummary_filename_map = {name: f"{name}-class" for name in autosummary_context["classes"]}


def _list_fields(_: Any, what: str, _name: str, thing: Any, _options: Any, lines: list[str]) -> None:
    """Add the section of attributes to the docstring of a class: its fields and properties, with types and texts."""
    if what != "class" or not _has_fields(thing):
        return
    types, texts = dict[str, str](), dict[str, list[str]]()
    for kind in reversed(thing.__mro__[:-1]):
        if kind.__module__.startswith("analogical"):
            source = ModuleAnalyzer.for_module(kind.__module__)
            source.analyze()
            types |= {field: words for (owner, field), words in source.annotations.items() if owner == kind.__name__}
            texts |= {field: text for (owner, field), text in source.attr_docs.items() if owner == kind.__name__}
    lines += ["", "Attributes", "----------"]
    for field in fields(thing):
        shown = re.sub(
            r"Floats|NDArray\[.*?\]", "ndarray", re.sub("Ints|Positions", "ndarray of int", types[field.name])
        )
        lines += [f"{field.name} : {shown}", *(f"    {line}" for line in texts.get(field.name, []))]
    known = {field.name for field in fields(thing)}
    for name in dir(thing):
        member = getattr(thing, name)
        if isinstance(member, property) and name not in known and not name.startswith("_"):
            lines += [name, *(f"    {line}" for line in (getdoc(member) or "").splitlines())]


def _copy(_: Any) -> None:
    """Copy what stands outside of this folder next to the pages."""
    shutil.rmtree(COPIED, ignore_errors=True)
    benchmarks = [path for kind in ("md", "png") for path in sorted((ROOT / "benchmarks").rglob(f"*.{kind}"))]
    for source in (*(ROOT / name for name in BESIDE), *benchmarks):
        target = COPIED / source.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)


def _adapt(_: Any, page: str, text: list[str]) -> None:
    """Let the links of a page, which are true in the repository, lead to places on the site."""
    if not (DOCS / f"{page}.md").exists():
        return
    source = ROOT / Path(page).relative_to("copied") if page.startswith("copied/") else DOCS / page

    def lead(link: re.Match[str]) -> str:
        if link["to"].startswith(("http://", "https://")):
            return link[0]
        place = _on_site((source.parent / link["to"]).resolve())
        return (
            link["words"]
            if place is None
            else f"[{link['words']}]({relpath(place, (DOCS / page).parent)}{link['rest']})"
        )

    parts = re.split(r"(^```.*?^```$)", text[0], flags=re.MULTILINE | re.DOTALL)
    parts[::2] = [LINK.sub(lead, part) for part in parts[::2]]
    # The line that ends the output of a doctest is not shown.
    text[0] = "".join(parts).replace("\n\n```\n", "\n```\n")


def _on_site(path: Path) -> Path | None:
    """Where a file of the repository is on the site; None if it is not there."""
    if path.is_relative_to(DOCS):
        return path if path.is_file() else None
    if path.is_relative_to(EXAMPLES):
        return DOCS / "gallery" / (f"{path.stem}.rst" if path.suffix == ".py" else "index.rst")
    copy = COPIED / path.relative_to(ROOT)
    return copy if copy.is_file() else None


def setup(app: Any) -> None:
    """Sphinx calls this before it reads the pages."""
    app.connect("builder-inited", _copy)
    app.connect("source-read", _adapt)
    app.connect("autodoc-process-docstring", _list_fields, priority=100)  # before numpydoc
