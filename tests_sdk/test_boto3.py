"""Requests for boto3: what botocore's own model of Converse accepts."""

from __future__ import annotations

from botocore.session import get_session
from botocore.validate import ParamValidator

from toolfmt import convert_request
from toolfmt.transcripts.apis.bedrock_sdk import for_boto3

PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}


def test_botocore_takes_a_request_with_bytes() -> None:
    model = get_session().get_service_model("bedrock-runtime").operation_model("Converse")
    asked = {"model": "m", "messages": [{"role": "user", "content": [{"type": "text", "text": "See."}, PICTURE]}]}
    sent = for_boto3(convert_request(asked, source="openai-chat", target="bedrock").value)
    report = ParamValidator().validate(sent, model.input_shape)
    assert not report.has_errors(), report.generate_report()
    assert sent["messages"][0]["content"][1]["image"]["source"] == {"bytes": b"\x89PNG\r\n\x1a\n"}
