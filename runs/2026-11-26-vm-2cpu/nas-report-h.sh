# Report H: sequential writes of 1 MiB to six drives behind a NAS, in MB/s.
run() {
  echo "\$ plimsoll drive simulate $1 --profile seqwrite128k --block 1MiB --depth 8 --seconds 10"
  "$PLIMSOLL" drive simulate "$1" --profile seqwrite128k --block 1MiB --depth 8 --seconds 10 |
    awk -v published="$2" '/^all/ { gsub(",", ""); printf "%.1f MB/s, published %s: %+.1f %%\n\n", $4, published, 100 * ($4 / published - 1) }'
}
echo "# 11.25 us of processor time for each row of 4 KiB: fitted to RAID 5"
run raid5:6:kingston-dc500m-960g:chunk=64KiB:stack=11.25us:network=20Gb 1816.7
echo "# The others, held out"
run raid6:6:kingston-dc500m-960g:chunk=64KiB:stack=11.25us:network=20Gb 1429.5
run raidf1:6:kingston-dc500m-960g:chunk=64KiB:stack=11.25us:network=20Gb 1840.8
echo "# Without processor time: the drives' and the network's limits"
run raid5:6:kingston-dc500m-960g:chunk=64KiB:network=20Gb 1816.7
run raid6:6:kingston-dc500m-960g:chunk=64KiB:network=20Gb 1429.5
run raidf1:6:kingston-dc500m-960g:chunk=64KiB:network=20Gb 1840.8
