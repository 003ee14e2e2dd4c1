#!/bin/bash
# Real btrfs RAID over emulated drives, beside the model of an array of such drives: throughput and mean latency.
# As root, in an empty directory. PLIMSOLL is the program, DRIVE a drive file; needs btrfs-progs and fio. Takes 6 minutes.
set -u
drive=$(cat "$DRIVE")
echo "${drive/$'\n'models/$'\n'slower = 20$'\n'models}" > member.toml

# LEVEL MEMBERS METADATA
build() {
  cp member.toml array.toml
  printf '\n[array]\nlevel = "%s"\nmembers = %s\nchunk = 65536\n' "$1" "$2" >> array.toml
  pids=() devices=()
  for i in $(seq "$2"); do
    mkdir -p "d$i"
    "$PLIMSOLL" drive mount member.toml "d$i" --capacity 2GiB --requests "requests$i.csv" > "d$i.log" 2>&1 &
    pids+=($!)
  done
  for i in $(seq "$2"); do
    until mountpoint -q "d$i/mnt"; do sleep 0.2; done
    devices+=("$(findmnt -no SOURCE "d$i/mnt")")
    umount "d$i/mnt"
  done
  mkfs.btrfs -q -f -d "$1" -m "$3" "${devices[@]}" > /dev/null 2>&1
  btrfs device scan > /dev/null
  mkdir -p mnt
  mount -o nodatasum,nodatacow "${devices[-1]}" mnt
}

# FILES MIB
fill() {
  rm -f mnt/data.*
  for i in $(seq 0 $(($1 - 1))); do dd if=/dev/urandom of=mnt/data.$i bs=1M count="$2" status=none; done
  sync
}

takedown() {
  umount mnt
  kill -INT "${pids[@]}" 2> /dev/null
  wait
}

# NAME RW BLOCK(KiB) DEPTH JOBS MIB
compare() {
  local real model profile
  case $2 in
    randread) profile=randread4k ;; randwrite) profile=randwrite4k ;;
    read) profile=seqread128k ;; write) profile=seqwrite128k ;;
  esac
  real=$(fio --name=x --directory=mnt --filename_format='data.$jobnum' --size="$6M" --rw="$2" --bs="$3k" \
    --iodepth="$4" --numjobs="$5" --ioengine=libaio --direct=1 --time_based --runtime=10 --ramp_time=2 \
    --group_reporting --norandommap --randrepeat=0 --output-format=json 2> /dev/null |
    python3 -c 'import json,sys; j=json.load(sys.stdin)["jobs"][0]; s=max(j["read"],j["write"],key=lambda s:s["total_ios"]); print(s["iops"],s["lat_ns"]["mean"]/1e3)')
  model=$("$PLIMSOLL" drive simulate array.toml --profile $profile --block "$3KiB" --depth "$4" --jobs "$5" \
    --seconds 20 --format json |
    python3 -c 'import json,sys; r=json.load(sys.stdin)["requests"][0]; print(r["iops"],r["mean_us"])')
  echo "$real $model" | awk -v name="$1, $2 $3 KiB, depth $4, jobs $5" \
    '{printf "%-44s btrfs %6.0f IOPS %8.0f us   model %6.0f IOPS %8.0f us   %+5.1f %% %+5.1f %%\n", name, $1, $2, $3, $4, ($1/$3-1)*100, ($2/$4-1)*100}'
}

build raid1 2 raid1
fill 8 64
compare "RAID 1 of 2" randread 4 1 1 64
compare "RAID 1 of 2" randread 4 1 8 64
compare "RAID 1 of 2" read 128 4 1 64
compare "RAID 1 of 2" randwrite 4 1 1 64
compare "RAID 1 of 2" randwrite 4 1 4 64
compare "RAID 1 of 2" randwrite 4 1 8 64
compare "RAID 1 of 2" write 128 1 4 64
takedown

build raid5 4 raid1c3
fill 8 64
compare "RAID 5 of 4" randread 4 1 1 64
compare "RAID 5 of 4" randread 4 1 8 64
compare "RAID 5 of 4" read 192 2 1 64
compare "RAID 5 of 4" write 192 1 4 64
fill 1 1200
echo 3 > /proc/sys/vm/drop_caches
compare "RAID 5 of 4 (btrfs reads whole stripes)" randwrite 4 1 1 1200
umount mnt
kill -INT "${pids[1]}"
wait "${pids[1]}"
btrfs device scan --forget > /dev/null 2>&1
btrfs device scan > /dev/null
mount -o degraded,nodatasum,nodatacow "${devices[0]}" mnt
sed -i 's/^chunk.*/&\nfailed = [1]/' array.toml
compare "RAID 5 of 4 without one" randread 4 1 1 1200
takedown
echo
echo "Requests of member 1 of the RAID 5 by kind and bytes, those of 100 and more:"
awk -F, 'NR > 1 && ($3 == "read" || $3 == "write") { n[$3 " " $5]++ } END { for (k in n) if (n[k] > 99) print k, n[k] }' requests1.csv | sort
echo
echo "What a 4 KiB write costs if 64 KiB of each data member are read first, in us: the sum of"
sed -i '/^failed/d' array.toml
"$PLIMSOLL" drive simulate array.toml --profile randread4k --block 192KiB --depth 1 --seconds 20 | awk '/^all/ { print $5 }'
sed 's/^level.*/level = "raid1"/; s/^members.*/members = 2/' array.toml > pair.toml
"$PLIMSOLL" drive simulate pair.toml --profile randwrite4k --depth 1 --seconds 20 | awk '/^all/ { print $5 }'
