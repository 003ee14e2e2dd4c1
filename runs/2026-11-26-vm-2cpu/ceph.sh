#!/bin/bash
# A real Ceph over emulated drives: throughput and mean latency, for ceph-model.sh to compare.
# As root, in an empty directory. PLIMSOLL is the program, DRIVE a drive file; needs ceph-mon, ceph-mgr, ceph-osd,
# ceph-common and fio with its rbd engine. Drives are 500 times slower, so that processors matter little. Takes 14 minutes.
set -u
dir=$PWD
export CEPH_CONF=$dir/ceph.conf
drive=$(cat "$DRIVE")
echo "${drive/$'\n'models/$'\n'slower = 500$'\n'models}" > member.toml
cat > ceph.conf << CONF
[global]
fsid = $(cat /proc/sys/kernel/random/uuid)
mon_host = 127.0.0.1:6789
mon_initial_members = a
public_addr = 127.0.0.1
cluster_addr = 127.0.0.1
auth_cluster_required = none
auth_service_required = none
auth_client_required = none
keyring = $dir/keyring
run_dir = $dir
admin_socket = $dir/\$name.asok
log_file = $dir/\$name.log
mon_data = $dir/\$name
mgr_data = $dir/\$name
osd_data = $dir/\$name
crash_dir = $dir/crash
osd_crush_chooseleaf_type = 0
osd_pool_default_size = 3
osd_pool_default_pg_autoscale_mode = off
[osd]
osd_memory_target = 939524096
bluestore_cache_autotune = false
bluestore_cache_size = 134217728
# Reads are to come from the drives.
bluestore_default_buffered_read = false
[client]
# Writes are to be complete when all copies are.
rbd_cache = false
CONF

mounts=() devices=() daemons=()
for i in 0 1 2; do
  mkdir -p "d$i"
  "$PLIMSOLL" drive mount member.toml "d$i" --capacity 6GiB --requests "requests$i.csv" > "d$i.log" 2>&1 &
  mounts+=($!)
done
for i in 0 1 2; do
  until mountpoint -q "d$i/mnt"; do sleep 0.2; done
  devices+=("$(findmnt -no SOURCE "d$i/mnt")")
  umount "d$i/mnt"
  wipefs -aq "${devices[$i]}"
done

ceph-authtool -C keyring --gen-key -n mon. --cap mon 'allow *' > mkfs.out
ceph-authtool keyring --gen-key -n client.admin --cap mon 'allow *' --cap osd 'allow *' --cap mgr 'allow *' >> mkfs.out
monmaptool --create --add a 127.0.0.1:6789 --fsid "$(sed -n 's/^fsid = //p' ceph.conf)" monmap >> mkfs.out
ceph-mon --mkfs -i a --monmap monmap --keyring keyring
ceph-mon -i a -f > mon.out 2>&1 &
daemons+=($!)
mkdir -p mgr.x
ceph auth get-or-create mgr.x mon 'allow profile mgr' osd 'allow *' -o mgr.x/keyring
ceph-mgr -i x -f > mgr.out 2>&1 &
daemons+=($!)
making=()
for i in 0 1 2; do
  uuid=$(cat /proc/sys/kernel/random/uuid)
  ceph osd new "$uuid" > /dev/null
  mkdir -p "osd.$i"
  ln -s "${devices[$i]}" "osd.$i/block"
  ceph-osd -i "$i" --mkfs --osd-uuid "$uuid" >> mkfs.out 2>&1 &
  making+=($!)
done
wait "${making[@]}"

up() { ceph osd stat -f json 2> /dev/null | sed -n 's/.*"num_up_osds":\([0-9]*\).*/\1/p'; }
for i in 0 1 2; do
  # Again if it ends at once, as it sometimes does before it has the monitors' map.
  until [ "$(up)" = $((i + 1)) ]; do
    kill -0 "${daemons[$((i + 2))]:-none}" 2> /dev/null || { ceph-osd -i "$i" -f > "osd.$i.out" 2>&1 & daemons[i + 2]=$!; }
    sleep 0.5
  done
  ceph osd crush add "osd.$i" 1.0 host="host$i" root=default 2> /dev/null
done
ceph config set mon auth_allow_insecure_global_id_reclaim false
ceph osd pool create rbd 128 128 replicated 2> /dev/null
ceph osd pool application enable rbd rbd 2> /dev/null
until ceph -s | grep -q '12[89] active+clean'; do sleep 1; done

# Small objects, so that little has to be written for all placement groups to have some.
rbd create --size 64 --object-size 256K --image-feature layering random
rbd create --size 1024 --image-feature layering sequential

# IMAGE RW BLOCK(KiB) DEPTH JOBS SECONDS: IOPS and mean latency. Jobs, as fio waits for the oldest request in flight.
load() {
  fio --name=x --ioengine=rbd --clientname=admin --pool=rbd --rbdname="$1" --rw="$2" --bs="$3k" --iodepth="$4" \
    --numjobs="$5" --size=64M --offset_increment="$([ "$1" = random ] && echo 0 || echo 64M)" \
    --time_based --runtime="$6" --ramp_time=3 --group_reporting --norandommap --randrepeat=0 \
    --output-format=json 2> fio.err | python3 -c '
import json, sys
text = sys.stdin.read()
job = json.loads(text[text.index("{"):])["jobs"][0]
side = max(job["read"], job["write"], key=lambda side: side["total_ios"])
print(side["iops"], side["lat_ns"]["mean"] / 1e3)'
}

# STATE IMAGE RW BLOCK(KiB) JOBS SECONDS
measure() {
  load "$2" "$3" "$4" 1 "$5" "$6" |
    awk -v state="$1" -v rw="$3" -v block="$4" -v jobs="$5" '{printf "%s %s %s %s %.2f %.0f\n", state, rw, block, jobs, $1, $2/1e3}'
}

echo "state rw KiB jobs IOPS ms"
load random write 1024 2 1 70 > fill.out
measure whole random randwrite 4 1 50
measure whole random randwrite 4 8 50
measure whole random randwrite 4 16 50
measure whole random randwrite 16 4 50
measure whole sequential write 128 1 50
measure whole sequential write 128 4 50
measure whole sequential write 4096 1 80
measure whole random randread 4 1 40
measure whole random randread 4 8 40
measure whole random randread 4 16 40

kill "${daemons[4]}"
until [ "$(up)" = 2 ]; do sleep 1; done
until ! ceph -s | grep -q peering; do sleep 1; done
measure degraded random randwrite 4 1 50
measure degraded random randwrite 4 8 50
measure degraded random randread 4 8 40

kill "${daemons[@]:0:4}"
wait "${daemons[@]}"
kill -INT "${mounts[@]}"
wait "${mounts[@]}"
echo
echo "Requests of the first drive by kind and bytes, those of 100 and more:"
awk -F, 'NR > 1 { n[$3 " " $5]++ } END { for (k in n) if (n[k] > 99) print k, n[k] }' requests0.csv | sort
echo
echo "Its writes, those that reached it 1 ms or more before the end of a flush, and the share of time in which it flushed"
echo "while there were writes:"
sort -t, -k2,2n requests0.csv | awk -F, '
  $3 == "flush" { end = $2 + $6; flushing += $6 }
  $3 == "write" { writes++; during += $2 < end - 1e6; if ($2 - last < 1e9) busy += $2 - last; last = $2 }
  END { printf "%d, %d, %.0f %%\n", writes, during, 100 * flushing / busy }'
