#!/bin/bash
# What ceph.sh measured, beside the model of such a cluster. PLIMSOLL is the program, DRIVE a drive file.
# usage: ceph-model.sh MEASURED
set -u
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
drive=$(cat "$DRIVE")
echo "${drive/$'\n'models/$'\n'slower = 500$'\n'models}" > "$work/whole.toml"
# The hosts are one machine, whose network is its loopback, 0.1 ms; a request takes 0.5 ms of processors. Both are divided
# by 500, and neither is fitted.
printf '\n[cluster]\nkind = "ceph"\nhosts = 3\ndrives = 1\nnetwork_gbit = 800\nround_trip = 200\nstack = 1000\n' \
  >> "$work/whole.toml"
sed 's/^hosts.*/&\nfailed = [2]/' "$work/whole.toml" > "$work/degraded.toml"
grep -E '^(whole|degraded) ' "$1" | while read -r state rw block jobs iops ms; do
  case $rw in
    randread) profile=randread4k ;; randwrite) profile=randwrite4k ;; write) profile=seqwrite128k ;;
  esac
  model=$("$PLIMSOLL" drive simulate "$work/$state.toml" --profile $profile --block "${block}KiB" --depth 1 \
    --jobs "$jobs" --seconds 1000 --format json |
    python3 -c 'import json,sys; r=json.load(sys.stdin)["requests"][0]; print(r["iops"],r["mean_us"]/1e3)')
  echo "$iops $ms $model" | awk -v name="$state, $rw $block KiB, $jobs jobs" \
    '{printf "%-36s Ceph %6.1f IOPS %5.0f ms   model %6.1f IOPS %5.0f ms   mean latency %+5.1f %%\n", name, $1, $2, $3, $4, ($2/$4-1)*100}'
done
