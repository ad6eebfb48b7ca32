"""Tests the JSON API of a running server against its own description, with requests that fit it and requests that do not.

    pip install --require-hashes -r end2end/schemathesis.txt
    python3 end2end/schemathesis_check.py http://127.0.0.1:3000

Somebody new signs up and writes and deletes there, so let it be a server that is good for nothing else, started with
SPILLWAY_RATE_LIMIT=off. What is checked and what is not is in `end2end/schemathesis.toml`.
"""

import os
import secrets
import subprocess
import sys
from pathlib import Path

import requests


def sign_up(address):
    # Not the password of the examples, which would let them change it and leave.
    account = {"handle": f"tester-{secrets.token_hex(4)}", "name": "Tester", "password": secrets.token_hex(16)}
    answer = requests.post(f"{address}/api/v1/accounts", json=account, timeout=10)
    answer.raise_for_status()
    return answer.cookies["spillway"]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    address = sys.argv[1].rstrip("/")
    program = Path(sys.executable).with_name("schemathesis")
    configuration = Path(__file__).with_name("schemathesis.toml")
    command = [program, "--config-file", configuration, "run", f"{address}/api/v1/openapi.json", "--no-color"]
    environment = {**os.environ, "SPILLWAY_SESSION": sign_up(address)}
    sys.exit(subprocess.run(command, env=environment).returncode)


main()
