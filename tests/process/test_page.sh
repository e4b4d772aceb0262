#!/usr/bin/env bash
# The report in a browser: test_page.sh PROGRAM [CHROMIUM]
#
# PROGRAM --write DIR NODES leaves a report.html (test_findings does). It must show every plot with
# its curves, say nothing on the console, and ask the network for nothing.
# Exits 77 where there is no Chromium, unless REQUIRE_CHROMIUM=1.
set -euo pipefail

program=$(realpath "$1")
chromium=${2:-$(command -v chromium || command -v chromium-browser || true)}
points_min=20
bars_min=5

if [ -z "$chromium" ]; then
    echo 'skipped: no Chromium to open the report with; apt-get install chromium'
    [ "${REQUIRE_CHROMIUM:-0}" = 1 ] && exit 1
    exit 77
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# Opens $1: dom.html as it stands then, console.txt what it said, asked.txt what it asked for. A
# request of the browser itself has no origin; one of a page has.
open_page() {
    timeout 100 "$chromium" --headless --no-sandbox --disable-gpu --no-first-run \
        --disable-background-networking --disable-component-update --disable-sync \
        --user-data-dir="$dir/profile" --host-resolver-rules='MAP * ~NOTFOUND' \
        --log-net-log="$dir/net.json" --virtual-time-budget=5000 --enable-logging=stderr \
        --dump-dom "file://$1" >"$dir/dom.html" 2>"$dir/said.txt" || {
        tail -n 20 "$dir/said.txt" >&2
        fail "$chromium does not open $1"
    }
    grep ':CONSOLE' "$dir/said.txt" >"$dir/console.txt" || true
    [ -s "$dir/net.json" ] || fail 'the browser left no log of its requests'
    grep '"initiator":' "$dir/net.json" | grep -v '"initiator":"not an origin"' \
        >"$dir/asked.txt" || true
}

# One line per plot: its name, the points of its longest curve, how many filled shapes it has.
count_points() {
    awk 'BEGIN { RS = "<div class=\"plot\" id=\"plot-" }
        NR > 1 {
            name = $0
            sub(/".*/, "", name)
            parts = split($0, shape, / (d|points)="/)
            longest = 0
            for (i = 2; i <= parts; i++) {
                sub(/".*/, "", shape[i])
                points = gsub(/[0-9.]+,[0-9.]+/, "", shape[i])
                longest = points > longest ? points : longest
            }
            print name, longest, gsub(/<polygon/, "")
        }' "$dir/dom.html"
}

# The checks see what they look for.
cat >"$dir/bad.html" <<'END'
<div class="plot" id="plot-empty"><svg><path d="M1,1 L2,2"></path></svg></div>
<img src="http://elsewhere.example/picture.png"><script>console.warn("a warning")</script>
END
open_page "$dir/bad.html"
grep -q 'a warning' "$dir/console.txt" || fail 'a warning on the console goes unseen'
grep -q 'elsewhere.example' "$dir/asked.txt" || fail 'a request goes unseen'
[ "$(count_points)" = 'empty 2 0' ] || fail 'points are miscounted'

"$program" --write "$dir/report" 10 >"$dir/printed.txt"
open_page "$dir/report/report.html"
[ -s "$dir/console.txt" ] && fail "the page says on the console: $(cat "$dir/console.txt")"
[ -s "$dir/asked.txt" ] && fail "the page asks for: $(cat "$dir/asked.txt")"
count_points >"$dir/points.txt"
for name in accuracy bytes use up down lag share traffic; do
    read -r _ points bars < <(grep "^$name " "$dir/points.txt") || fail "no plot of $name"
    [ "$points" -ge "$points_min" ] || [ "$bars" -ge "$bars_min" ] ||
        fail "the plot of $name is empty: $points points, $bars bars"
done
[ "$(grep -c '<svg' "$dir/dom.html")" = "$(wc -l <"$dir/points.txt")" ] || fail 'a stray drawing'
for word in 'NOT MET' 'desk/1' 'crash desk/2' 'hearsay sim'; do
    grep -q "$word" "$dir/dom.html" || fail "\"$word\" is not on the page"
done
echo "the page shows $(wc -l <"$dir/points.txt") plots, says nothing and asks for nothing"
