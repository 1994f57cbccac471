#!/usr/bin/env bash
# Takes one digest from CI's POST to prod through the API alone, with curl, and proves on the way that the gates
# hold and that nothing but the digest changes.
#
#   first_promotion.sh SLUICE BASE_URL DATA_DIR [VERSION]
#
# SLUICE is the program (it stands in for the image build only), DATA_DIR the demo's folder.
set -euo pipefail
sluice=$1 base=$2 data=$3 version=${4:-2.0.0}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

die() { echo "FAILED: $*" >&2; exit 1; }
token() { sed -n "s/.*\"$1\": *\"\([^\"]*\)\".*/\1/p" "$data/tokens.json"; }
text() { grep -o "\"$1\": *\"[^\"]*\"" "$work/body" | head -1 | sed 's/^[^:]*: *"//; s/"$//'; }
number() { grep -o "\"$1\": *[0-9]*" "$work/body" | head -1 | grep -o '[0-9]*$'; }
state() { sed 's/"pull_request": *{[^}]*}//' "$work/body" | grep -o '"state": *"[^"]*"' | head -1 | sed 's/^[^:]*: *"//; s/"$//'; }
first_id_of() { sed "s/.*\"$1\": *\[//" "$work/body" | grep -o '"id": *[0-9]*' | head -1 | grep -o '[0-9]*$'; }

# call WHO METHOD PATH WANTED_STATUS [BODY]: the answer's body is in $work/body
call() {
  local who=$1 method=$2 path=$3 wanted=$4 status
  shift 4
  status=$(curl -sS -o "$work/body" -w '%{http_code}' -X "$method" -H "Authorization: Bearer $(token "$who")" \
    ${1:+-H 'Content-Type: application/json' -d "$1"} "$base$path")
  [[ " $wanted " == *" $status "* ]] || die "$method $path as $who: status $status instead of $wanted: $(cat "$work/body")"
}

# await ID STATES SECONDS: until the promotion is in one of the states
await() {
  local deadline=$((SECONDS + $3))
  while :; do
    call viewer GET "/api/v1/promotions/$1" 200
    [[ " $2 " == *" $(state) "* ]] && return
    [ $SECONDS -lt $deadline ] || die "promotion $1 is '$(state)' after $3 s, wanted one of: $2 ($(text waits_for))"
    sleep 0.2
  done
}

echo "1. CI builds an image and posts its digest"
reference=$("$sluice" demo image --data "$data" web "$version")
repository=${reference%@*} digest=${reference#*@}
git clone -q "$base/git/shop-config.git" "$work/before"
build="{\"application\":\"web\",\"version\":\"$version\",\"artifacts\":[{\"repository\":\"$repository\",\"digest\":\"$digest\"}],
 \"source\":{\"repository\":\"https://git.example.com/shop/web\",\"commit\":\"9f8e7d6c5b4a39281706f5e4d3c2b1a098765432\"}}"
call ci POST /api/v1/builds 201 "$build"
id=$(number id) release=$(first_id_of releases) dev=$(first_id_of promotions)
call ci POST /api/v1/builds 200 "$build"
[ "$(number id)" = "$id" ] || die "the same post again has another id"
call ci POST /api/v1/builds 422 "${build//$digest/latest}"
[ "$(text code)" = mutable-reference ] || die "a tag was refused with code $(text code)"

echo "2. dev goes by itself (promotion $dev)"
await "$dev" "live verified" 60

echo "3. staging: a release manager promotes, no approval is needed"
call viewer POST /api/v1/promotions 403 "{\"application\":\"web\",\"environment\":\"staging\",\"release\":$release}"
call release-manager POST /api/v1/promotions 201 "{\"application\":\"web\",\"environment\":\"staging\",\"release\":$release,\"reason\":\"weekly\"}"
staging=$(number id)
await "$staging" "live verified" 60

echo "4. prod: held until somebody else approves"
call release-manager POST /api/v1/promotions 201 "{\"application\":\"web\",\"environment\":\"prod\",\"release\":$release,\"reason\":\"CHG-1042\"}"
prod=$(number id)
await "$prod" open 60
call release-manager POST "/api/v1/promotions/$prod/merge" 409
grep -q '"approvals"' "$work/body" || die "the refusal does not name the gate: $(cat "$work/body")"
call release-manager POST "/api/v1/promotions/$prod/approvals" "200 201" '{"decision":"approve","comment":"looks good to me"}'
call release-manager POST "/api/v1/promotions/$prod/merge" 409
call approver POST "/api/v1/promotions/$prod/approvals" "200 201" '{"decision":"approve","comment":"read the diff"}'
call release-manager POST "/api/v1/promotions/$prod/merge" 200

echo "5. merged, synced by Sluice, live"
await "$prod" "live verified" 90
merge=$(text merge_sha)

echo "6. the same digest everywhere"
git clone -q "$base/git/shop-config.git" "$work/after"
for environment in dev staging prod; do
  grep -q "digest: $digest" "$work/after/apps/web/overlays/$environment/kustomization.yaml" || die "main's $environment overlay lacks the digest"
  call viewer GET "/api/v1/deployments?application=web&environment=$environment" 200
  grep -q "\"images\": *\[\"$repository@$digest\"\]" "$work/body" || die "$environment runs another image: $(cat "$work/body")"
  grep -q "\"sync\": *\"Synced\"" "$work/body" && grep -q "\"health\": *\"Healthy\"" "$work/body" || die "$environment: $(cat "$work/body")"
done
git -C "$work/after" merge-base --is-ancestor "$merge" HEAD || die "main lacks the merge $merge"
call viewer GET "/api/v1/releases/$release/chain" 200
grep -q '"verified": *false' "$work/body" && die "a link of the chain is broken: $(cat "$work/body")"
[ "$(grep -o '"verified": *true' "$work/body" | wc -l)" -ge 15 ] || die "the chain is short: $(cat "$work/body")"

echo "7. nothing else has changed"
before=$(git -C "$work/before" rev-parse HEAD)
git -C "$work/after" diff --numstat "$before" HEAD -- apps/web | while read -r added removed file; do
  [ "$added $removed" = "1 1" ] || die "$file: $added lines added, $removed removed"
done
changed=$(git -C "$work/after" diff --name-only "$before" HEAD -- apps/web | wc -l)
[ "$changed" = 3 ] || die "$changed files of web changed instead of 3"
for environment in dev staging prod; do
  file=apps/web/overlays/$environment/kustomization.yaml
  cmp -s <(sed 's/sha256:[0-9a-f]\{64\}//' "$work/before/$file") <(sed 's/sha256:[0-9a-f]\{64\}//' "$work/after/$file") ||
    die "$file: bytes outside the digest changed"
done

echo "8. who did what can be asked"
call viewer GET "/api/v1/history?application=web&environment=prod" 200
grep -q "\"approved_by\": *\[\"approver\"\]" "$work/body" || die "history does not say who approved: $(cat "$work/body")"
echo "passed: $repository@$digest"
