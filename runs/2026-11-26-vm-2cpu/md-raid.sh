#!/bin/bash
# Real md over emulated drives, in a QEMU guest, beside the model of such an array: random writes of 4 KiB on a RAID 5 of 4 drives
# without a bitmap and with an internal one. As root, in an empty directory. PLIMSOLL is the program, GUEST_SCRIPT script/guest, DRIVE
# a drive file; needs fio. Drives are 20 times slower, so that the guest, which is interpreted, is fast enough. Takes 4 minutes.
set -u
drive=$(cat "$DRIVE")
echo "${drive/$'\n'models/$'\n'slower = 20$'\n'models}" > member.toml
# Of 2 GiB, with a bit for 128 KiB, there are about as many regions as of 1000 GB with a bit for 64 MiB.
capacity=2GiB md_bitmap=128K model_bitmap=67108864

cat > inside.sh <<'INSIDE'
fio_write() {
  for depth in 1 8; do
    fio --name=x --filename=/dev/md0 --rw=randwrite --bs=4k --iodepth=$depth --ioengine=libaio --direct=1 --time_based --runtime=15 \
      --ramp_time=3 --norandommap --randrepeat=0 --output-format=terse --terse-version=3 | awk -F ';' -v name="$1" -v depth=$depth '{ print name, depth, $49, $81 }'
  done
}
make() { mdadm --create /dev/md0 --run --level=5 --raid-devices=4 --chunk=64 --assume-clean "$@" /dev/vd[a-d] > /dev/null 2>&1; }
make --bitmap=none
fio_write none
mdadm --stop /dev/md0 2> /dev/null
make --bitmap=internal --bitmap-chunk=$(cat /files/bitmap)
# A new bitmap has all bits set; md clears them by and by.
for wait in $(seq 30); do mdadm -X /dev/vda | grep -q ' 0 dirty' && break; sleep 2; done
mdadm -X /dev/vda | grep Bitmap
fio_write internal
INSIDE
echo "$md_bitmap" > bitmap

pids=() devices=()
for i in 1 2 3 4; do
  mkdir -p "d$i"
  "$PLIMSOLL" drive mount member.toml "d$i" --capacity $capacity > "d$i.log" 2>&1 &
  pids+=($!)
done
for i in 1 2 3 4; do
  until mountpoint -q "d$i/mnt"; do sleep 0.2; done
  devices+=("$(findmnt -no SOURCE "d$i/mnt")")
  umount "d$i/mnt"
  dd if=/dev/zero of="${devices[-1]}" bs=1M count=4 oflag=direct status=none
done
# Between two interpreted processors each of md's wake-ups takes a millisecond.
CPUS=1 DISKS="${devices[*]}" PROGRAMS="fio" SECONDS_MAX=300 "$GUEST_SCRIPT" inside.sh bitmap > measured.txt
kill -INT "${pids[@]}" 2> /dev/null
wait "${pids[@]}" 2> /dev/null

# BITMAP DEPTH IOPS MEAN(us)
model() {
  cp member.toml array.toml
  printf '\n[array]\nlevel = "raid5"\nmembers = 4\nchunk = 65536\n' >> array.toml
  [ "$1" = none ] || echo "bitmap = $model_bitmap" >> array.toml
  "$PLIMSOLL" drive simulate array.toml --profile randwrite4k --depth "$2" --jobs 1 --seconds 20 --format json |
    python3 -c 'import json,sys; r=json.load(sys.stdin)["requests"][0]; print(r["iops"],r["mean_us"])'
}
grep -E '^(none|internal)' measured.txt | while read -r bitmap depth iops mean; do
  echo "$iops $mean $(model "$bitmap" "$depth")" | awk -v name="bitmap $bitmap, depth $depth" \
    '{printf "%-26s md %6.0f IOPS %8.0f us   model %6.0f IOPS %8.0f us   %+5.1f %%\n", name, $1, $2, $3, $4, ($1/$3-1)*100}'
done | tee compared.txt
awk '{ md[$2 $4] = $6; model[$2 $4] = $11 } END { for (depth in md) if (depth ~ /^none/) { other = depth; sub(/none/, "internal", other);
  printf "depth %s: a bitmap costs md a factor of %.1f, the model %.1f\n", substr(depth, 6), md[depth] / md[other], model[depth] / model[other] } }' compared.txt
