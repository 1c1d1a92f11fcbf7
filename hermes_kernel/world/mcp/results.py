"""What a server answered to a call, as a `Result`: text joined, pictures checked, the rest named."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Iterable, Sequence

from mcp.types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from hermes_kernel.core.messages import Image
from hermes_kernel.core.text import brief, scrub
from hermes_kernel.world.tools.results import IMAGE_BYTES, Result, described_image

PICTURES = 8
KINDS = {b"\x89PNG\r\n": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif", b"RIFF": "image/webp"}
NOTHING = "Done. (The tool returned nothing.)"


def result_of(answer: CallToolResult, safe: Callable[[str], str]) -> Result:
    """The answer without what `safe` takes out, not yet bounded in its length: that is done where every result is."""
    pictures: list[Image] = []
    texts = [text for block in answer.content if (text := _said(block, pictures, safe))]
    if not _has_text(answer.content) and answer.structured_content is not None:
        texts.append(json.dumps(answer.structured_content, ensure_ascii=False))
    failed = "The tool failed and did not say why."
    text = "\n".join(texts) or (failed if answer.is_error else NOTHING)
    return Result(scrub(safe(text)), not answer.is_error, tuple(pictures))


def _said(block: ContentBlock, pictures: list[Image], safe: Callable[[str], str]) -> str:
    """What is said in `block`. What is cut short went through `safe` before, which does not know half a secret."""
    match block:
        case TextContent():
            return block.text
        case ImageContent():
            return _picture(block, pictures, safe)
        case AudioContent():
            return f"[{brief(safe(block.mime_type), 60)}, {_bytes(block.data)}, which cannot be heard here]"
        case ResourceLink():
            return brief(safe(f"[{block.name}: {block.uri}] {block.description or ''}"), 500)
        case EmbeddedResource():
            return _resource(block.resource, safe)


def _resource(resource: TextResourceContents | BlobResourceContents, safe: Callable[[str], str]) -> str:
    where = brief(safe(str(resource.uri)), 200)
    if isinstance(resource, TextResourceContents):
        return f"[{where}]\n{resource.text}"
    return f"[{where}: {brief(safe(resource.mime_type or 'bytes'), 60)}, {_bytes(resource.blob)}]"


def _picture(block: ImageContent, pictures: list[Image], safe: Callable[[str], str]) -> str:
    """The words for a picture. Only one that is what it says is handed on: a provider refuses the whole conversation
    for one that is not."""
    try:
        raw = base64.b64decode(block.data, validate=True)
    except (binascii.Error, ValueError):
        return "[a picture whose base64 is damaged]"
    kind = next((kind for start, kind in KINDS.items() if raw.startswith(start)), "")
    if not kind:
        return f"[{brief(safe(block.mime_type), 60)}, {len(raw):,} bytes, which is no picture that a model can see]"
    if len(pictures) < PICTURES and len(raw) <= IMAGE_BYTES["on"]:
        pictures.append(Image(kind, block.data))
    return f"[{described_image(kind, raw)}]"


def _has_text(blocks: Sequence[ContentBlock]) -> bool:
    return any(isinstance(block, (TextContent, EmbeddedResource)) for block in _first(blocks))


def _first(blocks: Iterable[ContentBlock]) -> Iterable[ContentBlock]:
    return (block for block in blocks if not isinstance(block, TextContent) or block.text.strip())


def _bytes(encoded: str) -> str:
    return f"{len(encoded) * 3 // 4:,} bytes"
