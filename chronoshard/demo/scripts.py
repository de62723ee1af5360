"""The code that the demo hands over."""

HELLO_SH = 'echo "hello from the shell, run $CHRONOSHARD_RUN_ID"\n'

REPORT_PY = """\
import json, os, sys
params = json.load(sys.stdin)
rows = [n * n for n in range(params["rows"])]
print(f"{params['title']}: {len(rows)} rows, sum {sum(rows)}, nominal {os.environ['CHRONOSHARD_NOMINAL_TIME']}")
"""

GREET_JS = """\
const get = globalThis.Deno ? (name) => Deno.env.get(name) : (name) => process.env[name];
console.log(`hello from JavaScript, attempt ${get("CHRONOSHARD_ATTEMPT")}`);
"""

FLAKY_SH = """\
if [ "$CHRONOSHARD_ATTEMPT" = 0 ]; then
  echo "the first attempt always fails" >&2
  exit 3
fi
echo "attempt $CHRONOSHARD_ATTEMPT went well"
"""

LONG_SH = """\
echo "attempt $CHRONOSHARD_ATTEMPT begins"
sleep 6
echo "attempt $CHRONOSHARD_ATTEMPT ends"
"""
