# What people do with a checkout. Each target sets up what it misses first (scripts/setup.sh).

MAKEFLAGS += --no-print-directory
export PYTHON
bin := .venv/bin

.DEFAULT_GOAL := help
.PHONY: help demo up test check coverage bench lock clean

help:  ## what there is
	@sed -n 's/^\([a-z]*\):.*##/\1#/p' Makefile | while IFS='#' read -r name text; do printf '  make %-10s%s\n' "$$name" "$$text"; done

demo:  ## see it work: real scripts, a retry, a killed executor; under a minute, cleans up after itself
	@scripts/setup.sh run
	@$(bin)/chronoshard demo

up:  ## an embedded server that stays, on 127.0.0.1
	@scripts/setup.sh run
	@$(bin)/chronoshard up

test:  ## the whole test suite
	@scripts/setup.sh dev
	@$(bin)/python -m pytest

check:  ## format, lint, types, layers, fast tests: before every commit
	@scripts/setup.sh dev
	$(bin)/ruff format --check --quiet .
	$(bin)/ruff check --quiet .
	$(bin)/mypy
	$(bin)/lint-imports --no-logo
	$(bin)/python -m pytest --quiet tests/unit

coverage:  ## the domain's tests take every branch of it
	@scripts/setup.sh dev
	$(bin)/python -m pytest --quiet tests/unit --cov --cov-report=term-missing --cov-fail-under=100

bench:  ## the figures of the README, on this machine
	@scripts/setup.sh dev
	@$(bin)/chronoshard bench

lock:  ## write requirements/ anew from pyproject.toml (UPGRADE=1: newest versions)
	@scripts/setup.sh dev
	@scripts/lock.sh

clean:  ## remove everything that these commands made here
	@rm -rf .venv build dist *.egg-info .coverage* htmlcov
	@rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
