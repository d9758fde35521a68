"""An HTTP server that puts any client in front of any model.

    toolfmt serve --upstream http://127.0.0.1:8080/v1
    toolfmt serve gateway.toml

A *face* is an API that clients speak to the server, a *back* one that the server speaks to a model's server. A request
is converted from the face's format to the back's, and the answer, whole or streamed, the other way. Needs the extra
`gateway`.
"""

from importlib.util import find_spec

from toolfmt.errors import MissingExtraError

if find_spec("httpx2") is None or find_spec("starlette") is None:
    raise MissingExtraError("the gateway", "gateway")
