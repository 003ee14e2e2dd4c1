set -f
NVME=vsan:4:3:nvme:policy=ftt0:vdisks=32:network=40Gb
SATA=vsan:3:3:sata:policy=ftt0:vdisks=24:network=10Gb:stack=16.8us
# IOPS and MB/s of eight seeds, and their means.
run() {
  echo "\$ plimsoll drive simulate $* --depth 8 --seed 1   # to 8"
  for seed in 1 2 3 4 5 6 7 8; do
    "$PLIMSOLL" drive simulate "$@" --depth 8 --seed $seed | awk '/^all/ { print $3, $4 }' | tr -d ,
  done | awk '{ line = line " " $1; iops += $1; mb += $2 } END { print "IOPS" line; printf "mean %.0f IOPS, %.0f MB/s\n\n", iops / NR, mb / NR }'
}
echo "# Report K: NVMe 355,000; SATA 178,000 IOPS"
run $NVME --profile mix --jobs 32 --seconds 1
run $SATA --profile mix --jobs 24 --seconds 1
echo "# Report K: NVMe 17,800; SATA 2,790 MB/s"
run $NVME --profile seqread128k --jobs 32 --seconds 1
run $SATA --profile seqread128k --jobs 24 --seconds 1
echo "# Report K: NVMe 121,240; SATA 31,756 IOPS. 20 minutes from an empty buffer: buffer and time 100 times smaller"
run $NVME:buffer=6GB --profile mix --block 64KiB --jobs 32 --seconds 11
run $SATA:buffer=6GB --profile mix --block 64KiB --jobs 24 --seconds 11
echo "# Report K: NVMe 6,700; SATA 1,140 MB/s. The same"
run $NVME:buffer=6GB --profile seqwrite128k --jobs 32 --seconds 11
run $SATA:buffer=6GB --profile seqwrite128k --jobs 24 --seconds 11
echo "# The same figures in the first seconds, when nothing is destaged yet"
run $NVME --profile seqwrite128k --jobs 32 --seconds 1
run $SATA --profile seqwrite128k --jobs 24 --seconds 1
