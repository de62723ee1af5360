#!/usr/bin/env bash
# Writes requirements/*.txt anew from pyproject.toml: versions and hashes, no address of any registry.
# What is locked stays as it is unless it no longer fits; `make lock UPGRADE=1` takes the newest of everything.
#   run.txt         what the package needs, and what builds it
#   dev.txt         the same versions, and what tests and checks it
#   javascript.txt  a JavaScript runtime, for those platforms that it exists for
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

uv=.venv/bin/uv
compile=("$uv" pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header
  --python-version 3.11 ${UPGRADE:+--upgrade})

"${compile[@]}" --group build pyproject.toml --output-file requirements/run.txt
"${compile[@]}" --group build --extra dev --constraint requirements/run.txt pyproject.toml \
  --output-file requirements/dev.txt
.venv/bin/python - <<'PYTHON' | "${compile[@]}" --no-annotate - --output-file requirements/javascript.txt
import tomllib

with open("pyproject.toml", "rb") as file:
    print(*tomllib.load(file)["project"]["optional-dependencies"]["javascript"], sep="\n")
PYTHON
