r"""Requests to Bedrock for boto3: bytes instead of the wire's base64.

{"messages": [{"role": "user", "content": [{"image": {"format": "png", "source": {"bytes": b"\x89PNG\r\n"}}}]}]}
"""

from __future__ import annotations

import base64
import binascii
from typing import Any, Final

from toolfmt.errors import ParseError
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue

_VALUES: Final = frozenset({"input", "json", "additionalModelRequestFields"})
"""The keys of values without blocks inside."""
_DATA: Final = frozenset({"bytes", "redactedContent"})


def for_boto3(request: JsonObject) -> dict[str, Any]:
    """Copy a Bedrock request with bytes where boto3 requires them; boto3 encodes these itself.

    Raises `ParseError` for data that is not base64.
    """
    return {key: _given(key, value) for key, value in request.items()}


def _given(key: str, value: JsonValue) -> Any:
    if key in _DATA and isinstance(value, str):
        try:
            return base64.b64decode(value, validate=True)
        except (binascii.Error, ValueError):
            raise ParseError(f"the data under {key} is not base64") from None
    if is_object(value) and key not in _VALUES:
        return for_boto3(value)
    return [_given("", item) for item in value] if is_array(value) else value
