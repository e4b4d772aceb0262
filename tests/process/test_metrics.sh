#!/usr/bin/env bash
# Metrics of a real swarm, read by Prometheus: test_metrics.sh HEARSAY
#
# Two daemons, and a real Prometheus that scrapes them. All samples must be well-formed, and both
# nodes must learn in Prometheus without an alert. The alert rules must fire in their cases only.
# Once the nodes no longer train, they must have one digest in Prometheus. Health endpoints must
# agree with `hearsay status`. Exits with 77 without Prometheus.
set -euo pipefail

here=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
deploy=$here/../../configs/deploy/prometheus
# shellcheck source=tests/process/story.sh
source "$here/story.sh"
hearsay=$(realpath "$1")

for tool in prometheus promtool curl; do
    if ! command -v "$tool" >/dev/null; then
        echo "skipped: no $tool; apt-get install prometheus curl"
        exit "$([ "${REQUIRE_PROMETHEUS:-0}" = 1 ] && echo 1 || echo 77)"
    fi
done
cd "$dir"

http_of() {
    wait_for 20 "$1 to serve its page" notes "$1" '"note":"web".*http://127'
    sed -n 's/.*"note":"web".*http:\/\/\(127.0.0.1:[0-9]*\)\/.*/\1/p' "$1.log" | head -n 1
}
node=(--set train.steps_per_s=20 --set train.evaluate_s=2 --set node.http=127.0.0.1:0)

tell 'two nodes are well and their metrics well-formed'
start one "${node[@]}" --set data.shard=1/2
address=$(address_of one)
start two "${node[@]}" --set data.shard=2/2 --set node.peers="$address"
one=$(http_of one) two=$(http_of two)

# /livez and /readyz must agree with the exit code of hearsay status.
[ "$(curl -s "http://$one/livez")" = ok ] || fail 'livez'
is_ready() { [ "$(curl -s -o ready.txt -w '%{http_code}' "http://$one/readyz")" = 200 ]; }
wait_for 20 "one to be ready" is_ready
"$hearsay" status --state one >/dev/null || fail 'ready, and status says it is not'

# Metrics must be well-formed and include these.
curl -s "http://$one/metrics" >metrics.txt
promtool check metrics <metrics.txt || fail 'promtool finds fault with the metrics'
for name in uptime_seconds samples_total swarm_samples step_seconds_bucket share lag_seconds members \
    rumors_published_total rumors_received_total rumors_duplicate_total sent_bytes_total \
    publish_budget_bytes_per_second version_digest last_step_timestamp_seconds \
    neighbour_capacity_bytes_per_second neighbour_round_trip_seconds; do
    has_metric() { curl -s "http://$one/metrics" | grep -q "^hearsay_$name"; }
    wait_for 20 "the metric $name" has_metric
done
bad=$(sed 's/{.*//; s/ .*//' metrics.txt | grep -v '^#' | grep -v '^hearsay_' || true)
[ -z "$bad" ] || fail "metrics without the prefix: $bad"

cp "$deploy/alerts.yaml" .
sed "s/127.0.0.1:9464/$one\", \"$two/; s/scrape_interval: 15s/scrape_interval: 1s/" \
    "$deploy/prometheus.yaml" >prometheus.yaml
promtool check config prometheus.yaml >/dev/null || fail 'the shipped configuration'
prometheus --config.file=prometheus.yaml --storage.tsdb.path=tsdb --web.listen-address=127.0.0.1:0 \
    --log.level=info >prometheus.out 2>&1 &
pid[prometheus]=$!
wait_for 20 'Prometheus to listen' says prometheus.out 'Listening on'
port=$(sed -n 's/.*msg="Listening on" address=127.0.0.1:\([0-9]*\).*/\1/p' prometheus.out | head -n 1)
ask() { # prints the values of an expression, one per line
    curl -s --data-urlencode "query=$1" "http://127.0.0.1:$port/api/v1/query" |
        python3 -c 'import json, sys
for each in json.load(sys.stdin)["data"]["result"]: print(each["value"][1])'
}
is_scraped() { [ "$(ask 'sum(up{job="hearsay"})')" = 2 ]; }
wait_for 60 'both nodes to be scraped' is_scraped
learns() { [ "$(ask 'min(increase(hearsay_samples_total[5s])) > bool 0')" = 1 ]; }
wait_for 60 'both to learn' learns
hears() { [ "$(ask 'min(hearsay_rumors_received_total) > bool 3')" = 1 ]; }
wait_for 60 'both to receive rumors' hears
evaluated() { [ "$(ask 'count(hearsay_evaluation_accuracy > 0.2)')" = 2 ]; }
wait_for 60 'both to be evaluated' evaluated
[ -z "$(ask 'ALERTS{alertstate="firing"}')" ] || fail "alerts of a healthy swarm: $(ask ALERTS)"

cp "$here/alerts_test.yaml" .
promtool test rules alerts_test.yaml || fail 'the alert rules'

# The board and the alert rules may only use existing metrics.
grep -o 'hearsay_[a-z_]*' "$deploy/board.json" alerts.yaml | sed 's/.*://' | sort -u |
    while read -r name; do
        name=${name%_bucket}
        grep -q "^# TYPE $name " metrics.txt ||
            [[ $name =~ ^hearsay_(alone_seconds|(evaluation|averaged)_.*|checkpoint_age_seconds|neighbour_.*|loss)$ ]] ||
            fail "board or rules ask for $name, which no node has"
    done
python3 -m json.tool "$deploy/board.json" >/dev/null || fail 'the board is no JSON'

# A node whose page other machines can reach needs a token that is not short.
! "$hearsay" node --set node.http=0.0.0.0:0 --set node.peers=127.0.0.1:1 >refused.out 2>&1 ||
    fail 'a page for everybody'
grep -q 'http_token' refused.out || fail "no word of http_token: $(cat refused.out)"
echo short >token && chmod 600 token
! "$hearsay" node --set node.identity=two.key --set node.http=0.0.0.0:0 --set node.http_token=token \
    --set node.state_dir=other --set node.listen=127.0.0.1:0 --set data.source=generated >short.out 2>&1 ||
    fail 'a short token is taken'
grep -q 'fewer than 16 characters' short.out || fail "$(cat short.out)"

are_up() { [ "$(ask 'sum(up{job="hearsay"})')" = "$1" ]; }
kill -TERM "${pid[one]}" "${pid[two]}"
reap one 0
reap two 0
wait_for 60 'both to be down' are_up 0
start one --set node.listen="$address" --set node.http="$one" --set train.enabled=no
start two --set node.peers="$address" --set node.http="$two" --set train.enabled=no
wait_for 60 'both to be up' are_up 2
agree() {
    [ "$(ask 'count(hearsay_version_digest)')" = 2 ] &&
        [ "$(ask 'count(count_values("digest", hearsay_version_digest))')" = 1 ]
}
wait_for 60 'both to have one digest' agree

kill -9 "${pid[two]}"
wait_for 60 'one to be down' are_up 1
echo "a swarm of two, scraped by $(prometheus --version 2>&1 | head -n 1 | cut -d' ' -f1-3)"
