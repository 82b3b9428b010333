"""Citations that a provider hands in beside the text, as markers; read by shape, nothing is imported.

Understood, as mappings or objects: OpenAI annotations (`url_citation`, flat or nested;
`file_citation`, `container_file_citation`), Anthropic citations (`char_location`, `page_location`,
`content_block_location`, `search_result_location`, `web_search_result_location`), LangChain
content-block `citation` and `non_standard_annotation`, Cohere citations (`document_ids`). Objects of
any other shape are passed over: an annotation need not be a citation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from streamverify.citations.forms import CitationKey
from streamverify.citations.markers import Marker
from streamverify.types import Span

_NESTED = ("url_citation", "file_citation", "container_file_citation", "citation", "value")
_POSITIONS = ("document_index", "search_result_index")
_ADDRESSES = ("url", "source")
_FILES = ("file_id", "filename")
_TITLES = ("title", "document_title")
_KINDS = frozenset(
    {
        "url_citation",
        "file_citation",
        "container_file_citation",
        "char_location",
        "page_location",
        "content_block_location",
        "search_result_location",
        "web_search_result_location",
        "citation",
        "non_standard_annotation",
        "citations_delta",
        "text_content",
    }
)


def native(
    objects: Iterable[object], *, text: str = "", block: Span | None = None, at: int | None = None
) -> tuple[Marker, ...]:
    """One marker for each citation among the objects, in their order.

    A citation's own offsets into the answer are taken where it has them. When they delimit what
    looks like a marker (`【4:0†a.pdf】`, a link) that is the marker; otherwise they are the words it
    covers (`scope`) and the marker stands, without text, at their end.

    Args:
        objects: what the provider sent.
        text: the answer as generated, as far as it came.
        block: for providers that cite whole text blocks (Anthropic): where the block stands in `text`.
        at: where a citation without any offset stands; the end of the block, or of the text, unless given.
    """
    place = at if at is not None else (block.end if block else len(text))
    return tuple(marker for thing in objects for marker in _read(thing, text, block, place))


def combine(written: Sequence[Marker], native_markers: Sequence[Marker]) -> tuple[Marker, ...]:
    """Markers found in the text and handed in beside it, in text order; where two overlap, the handed one."""
    covered = [(marker.start, marker.end) for marker in native_markers if marker.start < marker.end]
    kept = [m for m in written if not any(start < m.end and m.start < end for start, end in covered)]
    return tuple(sorted((*kept, *native_markers), key=lambda marker: (marker.start, marker.end)))


def _read(thing: object, text: str, block: Span | None, place: int) -> Iterator[Marker]:
    kind = _get(thing, "type")
    if (kind is not None and kind not in _KINDS) or isinstance(thing, str):
        return
    inner = next((value for name in _NESTED if _is_record(value := _get(thing, name))), None)
    keys = tuple(dict.fromkeys((*_keys(thing), *(_keys(inner) if inner is not None else ()))))
    if not keys:
        return
    span = _span(thing) or (_span(inner) if inner is not None else None)
    if span is None or span.end > len(text) > 0:
        yield Marker("", place, place, keys, "native", block)
    elif _looks_like_marker(written := text[span.start : span.end]):
        yield Marker(written, span.start, span.end, keys, "native")
    else:
        yield Marker("", span.end, span.end, keys, "native", span)


def _keys(thing: object) -> Iterator[CitationKey]:
    """Every way the citation names its source, the surest first."""
    for name in _ADDRESSES:
        if isinstance(value := _get(thing, name), str) and value:
            yield CitationKey("url" if "://" in value else "file", value)
    for name in _FILES:
        if isinstance(value := _get(thing, name), str) and value:
            yield CitationKey("file", value)
    ids = _get(thing, "document_ids")
    for value in ids if isinstance(ids, list | tuple) else ():
        yield CitationKey("id", str(value))
    for name in _POSITIONS:
        if isinstance(value := _get(thing, name), int) and value >= 0:
            yield CitationKey("position", str(value))
    for name in _TITLES:
        if isinstance(value := _get(thing, name), str) and value:
            yield CitationKey("title", value)


def _span(thing: object) -> Span | None:
    for first, last in (("start_index", "end_index"), ("start", "end")):
        start, end = _get(thing, first), _get(thing, last)
        if isinstance(start, int) and isinstance(end, int) and 0 <= start <= end:
            return Span(start, end)
    return None


def _looks_like_marker(written: str) -> bool:
    return written.startswith(("【", "([", "[")) or "://" in written


def _is_record(value: object) -> bool:
    return isinstance(value, Mapping) or hasattr(value, "__dict__")


def _get(thing: object, name: str) -> Any:
    return thing.get(name) if isinstance(thing, Mapping) else getattr(thing, name, None)
