"""git's lists of refs, as columns: there may be 100,000 of them, and no line is worth an object. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from collectors.errors import SetupError
from ranking.names import TAGS

if TYPE_CHECKING:
    from collectors.process import Ran

PEELED: Final = "^{}"
"""What git puts after the name of a tag where the object id is that of what the tag stands for."""
_OID_LENGTHS: Final = frozenset({40, 64})  # SHA-1, SHA-256


class RefColumns(Struct, frozen=True):
    """Object ids and refnames, in git's order; the peeled line of an annotated tag follows the tag's own."""

    oids: list[str]
    refnames: list[str]

    def under(self, prefix: str) -> dict[str, str]:
        """The rest of every refname under the prefix, with its object id; a peeled line is no ref."""
        size, listed = len(prefix), zip(self.refnames, self.oids, strict=True)
        return {n[size:]: oid for n, oid in listed if n.startswith(prefix) and not n.endswith(PEELED)}

    def peeled_tags(self) -> dict[str, str]:
        """Every tag with the object that it stands for: the peeled line takes the place of the tag's own."""
        size, listed = len(TAGS), zip(self.refnames, self.oids, strict=True)
        return {n[size:].removesuffix(PEELED): oid for n, oid in listed if n.startswith(TAGS)}


def parse_ref_lines(text: str, separator: str) -> RefColumns:
    """Lines of object id and refname. SetupError for anything else; no refname holds a blank, a tab or a newline."""
    if not text:
        return RefColumns([], [])
    fields = text.replace(separator, "\n").split("\n")
    if not fields[-1]:
        fields.pop()
    oids, refnames = fields[::2], fields[1::2]
    if len(oids) != len(refnames) or not _OID_LENGTHS.issuperset(map(len, oids)):
        raise SetupError("git listed refs in an unknown form", code="unexpected-git-output", hint="git for-each-ref")
    return RefColumns(oids, refnames)


def text_of(ran: Ran) -> str:
    """What git printed. Refnames are bytes; what is no UTF-8 stays visible and can never pass for another name."""
    return ran.stdout.decode("utf-8", "backslashreplace")
