"""A server written without the SDK, of the protocol's older era: it answers what its argument, a JSON object, says.

{"lists": [{"tools": […], "nextCursor": "2"}, …], "result": {…}, "error": {…}, "changes": true}

Page after page of `lists` answers the requests for tools. `result` or `error` answers all calls; with `dies`, that
many calls remain without an answer, and then the program ends; with `lines`, each call is answered by these, whatever
they are, with the request's id for `IDENT`; with `listed`, the request for tools is.
"""

from __future__ import annotations

import json
import sys
from typing import Any

reported: dict[str, Any] = json.loads(sys.argv[1])
lists = [*reported["lists"]]
dies = reported.get("dies", 0)


def say_lines(ident: Any, lines: list[str]) -> None:
    sys.stdout.write("".join(f"{one}\n".replace("IDENT", json.dumps(ident)) for one in lines))
    sys.stdout.flush()


def say(**message: Any) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


for line in sys.stdin:
    request = json.loads(line)
    ident, method = request.get("id"), request["method"]
    match method:
        case "initialize":
            capabilities = {"tools": {"listChanged": True}} if reported.get("able", True) else {}
            server = {"name": "raw", "version": "1"}
            result = {"protocolVersion": "2025-06-18", "capabilities": capabilities, "serverInfo": server}
            say(id=ident, result=result)
        case "tools/list" if "listed" in reported:
            say_lines(ident, reported["listed"])
        case "tools/list":
            say(id=ident, result=lists[0] if len(lists) == 1 else lists.pop(0))
        case "tools/call" if dies:
            dies -= 1
            if not dies:
                sys.exit("the last words")
        case "tools/call" if "lines" in reported:
            say_lines(ident, reported["lines"])
        case "tools/call" if "error" in reported:
            say(id=ident, error=reported["error"])
        case "tools/call":
            if reported.get("changes"):
                say(method="notifications/tools/list_changed")
            say(id=ident, result=reported["result"])
        case "ping":
            say(id=ident, result={})
        case _ if ident is not None:
            say(id=ident, error={"code": -32601, "message": "Method not found"})
        case _:
            pass
