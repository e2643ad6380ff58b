"""How an answer is handed out: with where the run stands, and its questions as a host's picker wants them."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from candidates.contract import AnyDecision, Decision, decisions_of
from candidates.questions.hosts import HostName, Picker, host_named, render
from candidates.questions.languages import ENGLISH, Language, read_language
from candidates.questions.questions import Asking, breadcrumb, check_step
from collectors.errors import SetupError
from collectors.stores.store_file import reason_of, replace_bytes
from ranking.names import printable


class Presentation(Struct, frozen=True, kw_only=True):
    """What was asked for: the host, the language, the page, the step, and where long previews may be written."""

    host: HostName | None = None
    language: Language = ENGLISH
    page: int = 1
    step: str | None = None
    preview_dir: Path | None = None

    @property
    def asking(self) -> Asking:
        """How the questions are put."""
        return Asking(language=self.language, page=self.page)

    def present(self, answer: AnyDecision) -> AnyDecision | Picker:
        """The answer itself, or its questions for the host. SetupError where a preview cannot be written."""
        if self.step is not None:
            answer = _with_breadcrumb(answer, self.step, self.language)
        if self.host is None or not answer.questions:
            return answer
        first = decisions_of(answer)[0]
        crumb = breadcrumb(self.step, first, self.language) if self.step is not None else first.breadcrumb
        return render(answer.questions, self.host, language=self.language, keep=self._keep, breadcrumb=crumb)

    def _keep(self, name: str, preview: str) -> str | None:
        if self.preview_dir is None:
            return None
        file = self.preview_dir / name
        try:
            replace_bytes(file, f"{preview}\n".encode())
        except OSError as error:
            message = f"the preview {printable(str(file))} cannot be written: {reason_of(error)}"
            raise SetupError(message, code="preview-unwritable", hint="--preview-dir FOLDER") from error
        return str(file)


def read_presentation(
    picker: str | None, language: str | None, page: int | None, step: str | None, preview_dir: Path | None
) -> Presentation:
    """What the flags ask for; InvalidInput for an unknown host or language, and for what is no step."""
    if step is not None:
        check_step(step)
    return Presentation(
        host=host_named(picker) if picker is not None else None,
        language=read_language(language) if language is not None else ENGLISH,
        page=1 if page is None else page,
        step=step,
        preview_dir=preview_dir,
    )


def _with_breadcrumb(answer: AnyDecision, step: str, language: Language) -> AnyDecision:
    if isinstance(answer, Decision):
        return replace(answer, breadcrumb=breadcrumb(step, answer, language))
    several = len(answer.decisions) > 1
    decisions = tuple(
        replace(one, breadcrumb=breadcrumb(step, one, language, of_several=several)) for one in answer.decisions
    )
    return replace(answer, decisions=decisions)
