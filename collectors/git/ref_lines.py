"""git's lists of refs. There may be 100,000 of them: what is done to each is done by `str` and `dict`. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from collectors.errors import SetupError
from ranking.names import TAGS

if TYPE_CHECKING:
    from collectors.process import ProcessResult

PEELED: Final = "^{}"
"""What git puts after the name of a tag where the object id is that of what the tag stands for."""
_OID_LENGTHS: Final = frozenset({40, 64})  # SHA-1, SHA-256


class RefLines(Struct, frozen=True):
    """Lines of object id, separator and refname, in git's order; a peeled line follows that of its annotated tag."""

    text: str
    separator: str

    def __contains__(self, refname: str) -> bool:
        """Whether the ref is listed."""
        return f"{self.separator}{refname}\n" in self.text

    def under(self, prefix: str) -> dict[str, str]:
        """The rest of every refname under the prefix, with its object id; a peeled line is no ref."""
        rows = self._rows(prefix)
        found = self._read(rows, prefix)
        return {name: oid for name, oid in found.items() if not name.endswith(PEELED)} if PEELED in rows else found

    def beside(self, prefix: str, inner: str) -> dict[str, str]:
        """The same, less what is under another prefix inside that one."""
        if self._count(prefix) == self._count(inner):
            return {}
        inside = inner.removeprefix(prefix)
        return {name: oid for name, oid in self.under(prefix).items() if not name.startswith(inside)}

    def peeled_tags(self) -> dict[str, str]:
        """Every tag with the object that it stands for: the peeled line takes the place of the tag's own."""
        return {name.removesuffix(PEELED): oid for name, oid in self._read(self._rows(TAGS), TAGS).items()}

    def _count(self, prefix: str) -> int:
        return self.text.count(self.separator + prefix)

    def _rows(self, prefix: str) -> str:
        """The lines of the refs under a prefix. git sorts: they are one stretch of the text, copied as it is.

        Not every server does: a plain web server hands on whatever order its list of refs has.
        """
        lines = self._count(prefix)
        if not lines:
            return ""
        mark = self.separator + prefix
        begin = self.text.rfind("\n", 0, self.text.find(mark)) + 1
        stretch = self.text[begin : self.text.find("\n", self.text.rfind(mark)) + 1]
        if stretch.count("\n") == lines:
            return stretch
        return "".join(line + "\n" for line in self.text.split("\n") if mark in line)

    def _read(self, rows: str, prefix: str) -> dict[str, str]:
        """The rest of the refname to the object id."""
        *fields, _ = rows.replace(self.separator + prefix, "\n").split("\n")
        oids, names = fields[::2], fields[1::2]
        if not len(oids) == len(names) == rows.count(self.separator) or not _OID_LENGTHS.issuperset(map(len, oids)):
            raise _unknown_form()
        return dict(zip(names, oids, strict=True))


def parse_ref_lines(text: str, separator: str) -> RefLines:
    """Lines of object id and refname; no refname holds a blank, a tab or a newline. SetupError for other lines.

    Of refs that nobody reads the object ids are not looked at; of those that somebody does, when they are read.
    """
    if text and not text.endswith("\n"):
        text += "\n"
    if not text.count(separator) == text.count(f"{separator}refs/") == text.count("\n"):
        raise _unknown_form()
    return RefLines(text, separator)


def _unknown_form() -> SetupError:
    return SetupError("git listed refs in an unknown form", code="unexpected-git-output", hint="git for-each-ref")


def text_of(ran: ProcessResult) -> str:
    """What git printed. Refnames are bytes; what is no UTF-8 stays visible and can never pass for another name."""
    return ran.stdout.decode("utf-8", "backslashreplace")
