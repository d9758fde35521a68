"""The files that pages and examples give a gateway are ones that it takes, and what is around it fits them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
import ryaml

from toolfmt.gateway.config import Config
from toolfmt.gateway.loading import load_config

ROOT = Path(__file__).resolve().parents[2]
PLACE = ROOT / "examples" / "gateway"
PAGES = [ROOT / "docs" / page for page in ("how-to/run-a-gateway.md", "tutorials/codex.md")]
BLOCK = re.compile(r"^```toml\n(.*?)^```$", re.DOTALL | re.MULTILINE)
WHOLE = {"backs": {"it": {"url": "http://127.0.0.1:9"}}, "routes": [{"backs": ["it"]}]}
"""What a part of a file is put to."""


def blocks(page: Path) -> list[dict[str, object]]:
    found = [tomllib.loads(text) for text in BLOCK.findall(page.read_text("utf-8"))]
    return [one for one in found if "model_providers" not in one]  # Codex's own


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_shows_files_that_the_gateway_takes(page: Path) -> None:
    found = blocks(page)
    assert found
    for one in found:
        Config.model_validate({**WHOLE, **one})


def test_the_example_is_a_configuration() -> None:
    made = load_config(PLACE / "gateway.toml")
    assert made.route("claude-haiku-4-5") is not made.route("qwen3")


def test_compose_starts_what_nginx_asks() -> None:
    services = ryaml.loads((PLACE / "compose.yaml").read_text("utf-8"))["services"]  # pyright: ignore[reportPrivateImportUsage] - its stub exports nothing
    made, gateway = load_config(PLACE / "gateway.toml"), services["gateway"]
    # exec: else the shell gets the signal to end, and no stream ends before the container is killed
    assert "exec toolfmt serve /etc/gateway.toml --host 0.0.0.0" in gateway["command"]
    assert gateway["deploy"]["replicas"] == 2
    assert int(gateway["stop_grace_period"].removesuffix("s")) > made.drain_timeout
    keys = {made.key_env, *(back.key_env for back in made.backs.values())} - {None}
    assert keys == set(gateway["environment"])
    for service in services.values():
        for volume in service["volumes"]:
            assert (PLACE / volume.split(":")[0]).exists(), volume
    nginx = (PLACE / "nginx.conf").read_text("utf-8")
    assert nginx.count("{") == nginx.count("}")
    assert f"server gateway:{made.port};" in nginx
    assert f"client_max_body_size {made.max_body // 2**20}m;" in nginx
    bare = [line for line in nginx.splitlines() if line.strip() and not line.strip().startswith("#")]
    assert all(line.rstrip()[-1] in "{};" for line in bare)
