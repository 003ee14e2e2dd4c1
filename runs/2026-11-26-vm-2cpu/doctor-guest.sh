# What `plimsoll doctor` says of real md and LVM in each state, with what the kernel and lvs say. For script/guest, from the root:
#   DISKS=8 SIZE=32M script/guest runs/2026-11-26-vm-2cpu/doctor-guest.sh > doctor-guest.txt
limit() { echo "$1" > /proc/sys/dev/raid/speed_limit_max; }

# md STATE DEVICE
md() {
  echo "== $1"
  grep -A 2 "^$2 " /proc/mdstat
  (cd "/sys/block/$2/md" && for file in level raid_disks degraded array_state sync_action sync_completed consistency_policy chunk_size \
    journal_mode stripe_cache_size bitmap/location bitmap/chunksize dev-*/state dev-*/slot dev-*/errors; do
    [ -f "$file" ] && echo "$file: $(cat "$file")"
  done)
  doctor "/dev/$2"
}

fields=vg_name,lv_name,lv_kernel_major,lv_kernel_minor,segtype,stripes,stripe_size,chunk_size,region_size
fields=$fields,lv_health_status,raid_sync_action,sync_percent,data_percent,cache_mode,zero,pool_lv

# lvm STATE VOLUME
lvm() {
  echo "== $1"
  lvs -a --reportformat json --units b --nosuffix -o "$fields" 2> /dev/null | grep lv_name | tr -d ' '
  for device in /sys/block/dm-*; do echo "$(basename "$device") $(cat "$device/dm/name"): $(echo $(ls "$device/slaves"))"; done
  doctor "/dev/vg/$2"
}

doctor() { plimsoll doctor "$1" | findings; }

# Those of arrays, each on one line.
findings() {
  awk '
    /^  (ok|unknown|warning|error)/ { p = $2 ~ /^array/; if (p) print "" }
    p { sub(/^ +/, ""); printf "%s ", $0 }
    END { print "\n" }'
}

# Pulls a disk: its driver lets go of it.
pull() {
  for device in /sys/bus/virtio/drivers/virtio_blk/virtio*; do
    [ -e "$device/block/$1" ] && basename "$device" > /sys/bus/virtio/drivers/virtio_blk/unbind
  done
}

clear_md() { mdadm --stop "/dev/$1"; mdadm --zero-superblock /dev/vd[a-e]; limit 100000; } > /dev/null 2>&1
create() { mdadm --create --run "$@" > /dev/null 2>&1; }

uname -r
mdadm --version 2>&1

create /dev/md0 --level=5 --raid-devices=4 --spare-devices=1 --chunk=64 /dev/vd[a-e]
mdadm --wait /dev/md0
md "RAID 5 of 4 with a spare" md0
limit 300
mdadm --fail /dev/md0 /dev/vdb 2> /dev/null
sleep 1
md "RAID 5: a drive failed, the spare is filled" md0
limit 100000
mdadm --wait /dev/md0
md "RAID 5: the spare is filled, the failed drive is still in it" md0
mdadm --remove /dev/md0 /dev/vdb 2> /dev/null
limit 300
echo check > /sys/block/md0/md/sync_action
sleep 1
md "RAID 5: a check" md0
echo idle > /sys/block/md0/md/sync_action
mdadm --fail /dev/md0 /dev/vda 2> /dev/null
md "RAID 5: a drive failed, and no spare" md0
mdadm --fail /dev/md0 /dev/vdc 2> /dev/null
md "RAID 5: two drives failed" md0
echo "a write: $(dd if=/dev/zero of=/dev/md0 bs=4k count=1 oflag=direct 2>&1 | head -n 1)"
clear_md md0

create /dev/md1 --level=10 --raid-devices=4 --bitmap=internal --assume-clean /dev/vd[a-d]
md "RAID 10 with an internal bitmap" md1
pull vdd
dd if=/dev/zero of=/dev/md1 bs=64k count=64 oflag=direct 2> /dev/null
sleep 1
md "RAID 10: a drive was pulled" md1
clear_md md1

create /dev/md2 --level=5 --raid-devices=3 --write-journal /dev/vde /dev/vd[a-c]
mdadm --wait /dev/md2
md "RAID 5 with a journal" md2
mdadm --fail /dev/md2 /dev/vde 2> /dev/null
md "RAID 5: the journal failed" md2
echo "a write: $(dd if=/dev/zero of=/dev/md2 bs=4k count=1 oflag=direct 2>&1 | head -n 1)"
clear_md md2

create /dev/md3 --level=5 --raid-devices=3 --consistency-policy=ppl /dev/vd[a-c]
mdadm --wait /dev/md3
md "RAID 5 with a partial parity log" md3
clear_md md3

create /dev/md4 --level=1 --raid-devices=2 --bitmap=none /dev/vda missing
md "RAID 1 that was created without its second drive" md4
clear_md md4

create /dev/md5 --level=0 --raid-devices=2 /dev/vdb /dev/vdc
md "RAID 0" md5
pvcreate -q /dev/md5 > /dev/null 2>&1
vgcreate -q vg /dev/md5 > /dev/null
lvcreate -y -q -n on_md -L 8M vg > /dev/null 2>&1
lvm "a linear volume on a RAID 0 of md" on_md
vgremove -y -q vg > /dev/null 2>&1
pull vdb
dd if=/dev/md5 of=/dev/null bs=64k count=100 iflag=direct 2> /dev/null
md "RAID 0: a drive was pulled" md5
mdadm --stop /dev/md5 2> /dev/null
dd if=/dev/zero of=/dev/vdc bs=1M count=4 2> /dev/null

vgcreate -q vg /dev/vd[aefgh] > /dev/null 2>&1
lvcreate -y -q -n r5 --type raid5 -i 3 -I 64k -L 72M vg > /dev/null 2>&1
sleep 3
lvm "LVM raid5" r5
lvchange -q --maxrecoveryrate 300k vg/r5 > /dev/null 2>&1
lvchange -q --syncaction check vg/r5 > /dev/null 2>&1
sleep 1
lvm "LVM raid5: a check" r5
lvremove -y -q vg/r5 > /dev/null 2>&1

lvcreate -y -q -n striped -i 3 -I 64k -L 30M vg > /dev/null 2>&1
lvm "LVM striped" striped
lvremove -y -q vg/striped > /dev/null 2>&1

lvcreate -y -q --type thin-pool -L 60M -n pool vg > /dev/null 2>&1
lvcreate -y -q -V 100M --thin -n thin --thinpool vg/pool > /dev/null 2>&1
dd if=/dev/zero of=/dev/vg/thin bs=1M count=20 2> /dev/null
sync
lvm "LVM thin" thin
dd if=/dev/zero of=/dev/vg/thin bs=1M count=56 2> /dev/null
sync
lvm "LVM thin, a pool that is nearly full" thin
lvremove -y -q vg/pool > /dev/null 2>&1

lvcreate -y -q -n slow -L 40M vg /dev/vda /dev/vde > /dev/null 2>&1
lvcreate -y -q --type cache-pool -L 12M -n fast vg /dev/vdh > /dev/null 2>&1
lvconvert -y -q --type cache --cachepool vg/fast --cachemode writeback vg/slow > /dev/null 2>&1
lvm "LVM cache with a cache pool" slow
lvremove -y -q vg/slow > /dev/null 2>&1

lvcreate -y -q -n slow -L 24M vg /dev/vda > /dev/null 2>&1
lvcreate -y -q -n fast -L 20M vg /dev/vdh > /dev/null 2>&1
lvconvert -y -q --type cache --cachevol fast --cachemode writethrough vg/slow > /dev/null 2>&1
lvm "LVM cache with a cache volume" slow
lvremove -y -q vg/slow > /dev/null 2>&1

lvcreate -y -q -n mirror --type raid1 -m 1 -L 24M vg /dev/vda /dev/vde > /dev/null 2>&1
sleep 2
pull vde
dd if=/dev/zero of=/dev/vg/mirror bs=4k count=1 conv=fsync 2> /dev/null
sleep 1
lvm "LVM raid1: a drive was pulled" mirror
lvconvert -y -q --repair vg/mirror > /dev/null 2>&1
lvm "LVM raid1, repaired" mirror
echo "== LVM as an ordinary user"
echo "user:x:1000:1000:user:/:/bin/sh" > /etc/passwd
su user -c "PATH=/bin plimsoll doctor /dev/vg/mirror" | findings
mv /bin/lvs /tmp/
echo "== LVM without lvs"
doctor /dev/vg/mirror
