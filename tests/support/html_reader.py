"""A page as html.parser sees it: its elements, its text, and every fault of its nesting."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from html.parser import HTMLParser

EMPTY = frozenset({"meta", "br"})

# All that a page of ours is made of.
PLAIN_TAGS = frozenset(
    """
    html head meta title style body header h1 h2 p nav ul ol li a main section div table thead tbody tr th td span b
    code br details summary dl dt dd figure figcaption footer svg desc rect path g text circle
    """.split()
)


@dataclass(frozen=True, slots=True)
class Element:
    """A start tag with its attributes; `text`: all that stands inside."""

    tag: str
    attributes: dict[str, str]
    text: list[str] = field(default_factory=list)

    @property
    def said(self) -> str:
        return "".join(self.text)

    def has(self, name: str) -> bool:
        """Whether it is of this class."""
        return name in self.attributes.get("class", "").split()


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[Element] = []
        self.problems: list[str] = []
        self.open: list[Element] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        if len(set(names)) < len(names):
            self.problems.append(f"<{tag}> names an attribute twice")
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.elements.append(element)
        if tag not in EMPTY:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in EMPTY:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open[-1].tag != tag:
            self.problems.append(f"</{tag}> at {self.getpos()} closes {self.open[-1].tag if self.open else 'nothing'}")
        else:
            self.open.pop()

    def handle_data(self, data: str) -> None:
        for element in self.open:
            element.text.append(data)

    def handle_comment(self, data: str) -> None:
        self.problems.append(f"a comment: {data}")

    def unknown_decl(self, data: str) -> None:
        self.problems.append(f"a declaration: {data}")


@dataclass(frozen=True, slots=True)
class Page:
    """The elements of a page in their order."""

    elements: tuple[Element, ...]
    problems: tuple[str, ...]

    def all(self, tag: str, name: str | None = None) -> list[Element]:
        """The elements of a tag, and of a class where one is given."""
        return [e for e in self.elements if e.tag == tag and (name is None or e.has(name))]

    def one(self, tag: str, name: str | None = None) -> Element:
        """The only one."""
        (element,) = self.all(tag, name)
        return element

    def below(self, key: str) -> str:
        """The text of a section by its heading's id."""
        return next(e for e in self.all("section") if e.attributes.get("aria-labelledby") == key).said

    def tags(self) -> Counter[str]:
        """How often each tag stands."""
        return Counter(e.tag for e in self.elements)


def read_page(text: str) -> Page:
    """Read a page to its end."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    left = [f"<{e.tag}> is not closed" for e in reader.open]
    return Page(tuple(reader.elements), (*reader.problems, *left))
