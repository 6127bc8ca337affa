#!/bin/bash
# Runs the bundle on GPU 0: results against expected bits, then speed.
#
# usage: run.sh [--seconds N] [--out DIR] [--parts A,B,...]
#
# Each part writes DIR/PART.json when it ends. A part that has a file is skipped,
# so a second call continues. A part gets its share of the seconds that are left;
# rows that it does not reach are marked "not measured".
#
# INGOT_DEVICE=emulated runs on the emulated GPU that INGOT_EMULATED_DRIVER names.
# Exit code: 0 if no part failed, 1 if one did, 2 for wrong use.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)

# Each part with its share of the time.
parts=(images:5 kernels:15 nodes:10 families:5 sanitizer:15 ceilings:5 models:15 profiles:5 turns:20 sweep:5)

fail() { # EXIT-CODE MESSAGE
  echo "run.sh: error: $2" >&2
  exit "$1"
}

seconds=240
out=$here/results
chosen=all
while (($#)); do
  case $1 in
    --seconds) [[ ${2:-} =~ ^[1-9][0-9]{0,5}$ ]] || fail 2 "--seconds needs a number from 1 on"
      seconds=$2 ;;
    --out) [[ -n ${2:-} ]] || fail 2 "--out needs a folder"
      out=$2 ;;
    --parts) [[ -n ${2:-} ]] || fail 2 "--parts needs names of parts"
      chosen=$2 ;;
    *) fail 2 "unknown option '$1'; usage: run.sh [--seconds N] [--out DIR] [--parts A,B,...]" ;;
  esac
  shift 2
done
for name in ${chosen//,/ }; do
  [[ $name == all || " ${parts[*]}" == *" $name:"* ]] || fail 2 "there is no part '$name'"
done

damaged=$(cd "$here" && sha256sum --check --quiet MANIFEST 2>/dev/null | head -n 1)
[[ -z $damaged ]] || fail 1 "the bundle is damaged: ${damaged%%: *} is not as it was written"
(cd "$here" && sha256sum --check --status MANIFEST 2>/dev/null) || fail 1 "the bundle is damaged: a file is missing"

# Expands images, compiled models and their weights, unless an earlier call did.
expand() {
  local packed first second
  for packed in "$here"/*/*.gz; do
    [[ -e $packed && ! -e ${packed%.gz} ]] || continue
    gzip -dc "$packed" >"$packed.part" && mv "$packed.part" "${packed%.gz}" || return 1
  done
  while read -r first second; do
    ln -sf "$here/$first" "$here/$second" || return 1
  done <"$here/links"
}

mkdir -p "$out" || exit 1
out=$(cd "$out" && pwd)
runner=$here/bin/ingot-gpu

# Compare what the results are of: this bundle, and this device.
device=$("$runner" device 2>&1) || fail 1 "${device#*error: }"
for pair in "bundle:$(sha256sum <"$here/MANIFEST")" "device.json:$device"; do
  file=$out/${pair%%:*}
  if [[ -e $file ]]; then
    [[ $(<"$file") == "${pair#*:}" ]] || fail 1 "$out has results of another ${pair%%[.:]*}; choose another --out"
  else
    echo "${pair#*:}" >"$file.part" && mv "$file.part" "$file" || exit 1
  fi
done

expand || fail 1 "images and compiled models cannot be expanded in $here"

# The driver shall compile PTX, not take the result of an earlier run.
export CUDA_CACHE_DISABLE=1

# Writes the file of a part: a status, a message, and rows that are JSON already.
write_part() { # PART STATUS MESSAGE [ROW...]
  local part=$1 status=$2 message=${3//[\"\\]/} rows
  shift 3
  rows=$(IFS=,; echo "$*")
  printf '{"status": "%s", "message": "%s", "rows": [%s]}\n' "$status" "${message//[[:cntrl:]]/ }" "$rows" \
    >"$out/$part.json.part"
  mv "$out/$part.json.part" "$out/$part.json"
}

# Runs the runner for at most some seconds. If it crashes or hangs, the part fails.
run_runner() { # PART SECONDS ARGUMENT...
  local part=$1 limit=$2 code
  shift 2
  timeout --kill-after=5 $((limit + 30)) "$runner" "$@" --seconds "$limit" --output "$out/$part.json" \
    >"$out/$part.log" 2>&1
  code=$?
  [[ -e $out/$part.json ]] || write_part "$part" failed "exit code $code: $(tail -n 1 "$out/$part.log")"
}

part_images() { run_runner images "$1" images "$here/images.json"; }
part_kernels() { run_runner kernels "$1" cases "$here/kernels.json"; }
part_nodes() { run_runner nodes "$1" cases "$here/nodes.json"; }
part_families() { run_runner families "$1" cases "$here/families.json"; }
part_ceilings() { run_runner ceilings "$1" ceilings; }
part_sweep() { run_runner sweep "$1" cases "$here/sweep.json"; }

part_models() { run_runner models "$1" cases "$here/models.json"; }

# Searches for wrong accesses and races on the GPU. Only a part of the kernels fits into the time.
part_sanitizer() {
  local tool sanitizer rows=() status=passed code left=$1 start
  sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda*/bin/compute-sanitizer 2>/dev/null | head -n 1)
  if [[ -z $sanitizer ]]; then
    write_part sanitizer "not measured" "compute-sanitizer is not installed"
    return
  fi
  for tool in memcheck racecheck synccheck initcheck; do
    start=$SECONDS
    if ((left < 5)); then
      rows+=("{\"name\": \"$tool\", \"status\": \"not measured\"}")
      continue
    fi
    timeout --kill-after=5 $((left + 5)) "$sanitizer" --tool "$tool" --error-exitcode 86 "$runner" cases \
      "$here/kernels.json" --no-fork --seconds $((left / 2 > 20 ? 20 : left / 2)) --output "$out/$tool.json" \
      >"$out/$tool.log" 2>&1
    code=$?
    left=$((left - (SECONDS - start)))
    # The sanitizer has an exit code of its own for what it finds.
    case $code in
      0) rows+=("{\"name\": \"$tool\", \"status\": \"passed\"}") ;;
      124 | 137) rows+=("{\"name\": \"$tool\", \"status\": \"not measured\"}") ;;
      *) status=failed
        rows+=("{\"name\": \"$tool\", \"status\": \"failed\", \"message\": \"exit code $code, see $tool.log\"}") ;;
    esac
  done
  write_part sanitizer $status "" "${rows[@]}"
}

# Times of each layer, for people: one JSON file a model.
part_profiles() {
  local model name rows=() status=passed end=$((SECONDS + $1))
  mkdir -p "$out/profiles"
  for model in "$here"/models/*.so; do
    [[ -e $model ]] || continue
    name=$(basename "$model" .so)
    if ((SECONDS >= end)); then
      rows+=("{\"name\": \"$name\", \"status\": \"not measured\"}")
    elif timeout 60 "$here/bin/ingot-client" bench "$model" --profile --json --duration 200ms --iterations 3 \
      >"$out/profiles/$name.json" 2>"$out/profiles/$name.log"; then
      rows+=("{\"name\": \"$name\", \"status\": \"passed\"}")
    else
      status=failed
      rows+=("{\"name\": \"$name\", \"status\": \"failed\", \"message\": \"see profiles/$name.log\"}")
    fi
  done
  ((${#rows[@]})) || status="not measured"
  write_part profiles "$status" "" "${rows[@]}"
}

# PyTorch compiles its models while the other parts run, and is then measured in turns with ours.
peer=
start_peer() {
  [[ -e $out/turns.json ]] && return
  python3 -c 'import torch, sys; sys.exit(not torch.cuda.is_available())' 2>/dev/null || return
  rm -f "$out/go"
  TORCHINDUCTOR_CACHE_DIR=$out/inductor python3 "$here/peer.py" --bundle "$here" --out "$out" \
    >"$out/peer.log" 2>&1 &
  peer=$!
}
stop_peer() {
  [[ -n $peer ]] || return 0
  kill "$peer" 2>/dev/null
  kill -CONT "$peer" 2>/dev/null
  peer=
}
trap stop_peer EXIT

part_turns() {
  if [[ -z $peer ]]; then
    write_part turns "not measured" "python3 with PyTorch for CUDA is not installed"
    return
  fi
  echo "$1" >"$out/go.part" && mv "$out/go.part" "$out/go"
  local end=$((SECONDS + $1 + 60))
  while kill -0 "$peer" 2>/dev/null && ((SECONDS < end)); do sleep 0.2; done
  stop_peer
  [[ -e $out/turns.json ]] || write_part turns failed "$(tail -n 1 "$out/peer.log")"
}

is_chosen() { [[ $chosen == all || ,$chosen, == *",$1,"* ]]; }

deadline=$((SECONDS + seconds))
shares=0
for entry in "${parts[@]}"; do
  is_chosen "${entry%:*}" && [[ ! -e $out/${entry%:*}.json ]] && shares=$((shares + ${entry#*:}))
done
is_chosen turns && start_peer
for entry in "${parts[@]}"; do
  part=${entry%:*}
  share=${entry#*:}
  is_chosen "$part" || continue
  if [[ ! -e $out/$part.json ]]; then
    limit=$(((deadline - SECONDS) * share / shares))
    shares=$((shares - share))
    # Times are measured while nobody else uses the GPU.
    [[ -n $peer && " ceilings models profiles " == *" $part "* ]] && kill -STOP "$peer" 2>/dev/null
    ((deadline > SECONDS)) && "part_$part" $((limit > 0 ? limit : 1))
    [[ -n $peer ]] && kill -CONT "$peer" 2>/dev/null
  fi
  if [[ -e $out/$part.json ]]; then
    echo "$part: $(grep -om1 '"status": *"[^"]*"' "$out/$part.json" | cut -d'"' -f4)"
  else
    echo "$part: not measured, the time was over"
  fi
done
for entry in "${parts[@]}"; do
  file=$out/${entry%:*}.json
  is_chosen "${entry%:*}" && [[ -e $file ]] || continue
  [[ $(grep -om1 '"status": *"[^"]*"' "$file" | cut -d'"' -f4) == failed ]] && exit 1
done
exit 0
