# What the doctor finds: a sentence, its evidence in parentheses, and what to do.

doctor-on-disk = { $disk }: { $found }
doctor-governor-unset = The kernel sets no processor clock here; the firmware or a host does.
doctor-governor-full-clock = The processors run at full clock (governor performance).
doctor-governor-saves-power = The processors slow down between requests, which lengthens short ones (governor { $governors }).
    .next = Set the governor for the measurement: cpupower frequency-set -g performance
doctor-clock-unknown = The kernel does not name its clock source.
doctor-clock-quick = Reading the clock needs no system call ({ $clock }).
doctor-clock-slow = Reading the clock is slow, and every request needs it several times ({ $clock }).
    .next = Boot with clocksource=tsc if the processor's clock is stable (dmesg has the reason why it is not used).
doctor-steal-unknown = /proc/stat cannot be read.
doctor-steal = { $level ->
    [ok] Other virtual machines take no CPU time worth mentioning
   *[other] Other virtual machines take CPU time, so times are longer than the storage makes them
 } ({ $now-percent ->
    [none] { $since-boot-percent } % since boot
   *[other] { $now-percent } % now, { $since-boot-percent } % since boot
 }).
    .next = Use a host that is not shared, or processors of this machine's own.
doctor-other-programs = Other programs use { $busy-percent } % of the CPUs.
    .next = Stop them while measuring (top lists them).

doctor-in-use = Other programs use this device, so their requests are in every figure{ $mounts ->
    [none] {""}
   *[other] ; mounted at { $mounts }
 }{ $swaps ->
    [none] {""}
   *[other] ; swap space: { $swaps }
 }{ $holders ->
    [none] {""}
   *[other] ; part of { $holders }
 }{ $open-by ->
    [none] {""}
   *[other] ; open in { $open-by }
 }. It is only read here.
    .next = Unmount and release it before it is measured by itself.
doctor-in-use-unknown = Whether other programs use this device is unknown ({ $error }).
    .next = Run as root, outside of any container.
doctor-not-in-use = The device is not in use{ $signatures ->
    [none] { $partitions ->
        [none] , and nothing is recognized on it
       *[other] {""}
     }
   *[other] . It holds { $signatures }, which a write would destroy
 }{ $partitions ->
    [none] {""}
   *[other] . It has partitions, which a write would destroy: { $partitions }
 }.

no-device-cause = { $cause ->
    [no_mount] its mount is not in /proc/self/mountinfo
    [not_on_device] a { $what } filesystem is not on a block device
    [several_devices] this btrfs is on { $what } devices; give each of them as a device to watch
    [not_in_sysfs] /sys/dev/block/{ $what } is not there
   *[error] { $what }
 }
doctor-no-block-device = There is no block device ({ no-device-cause }).
    .next = For figures of a drive give a directory that lies on one.
doctor-drive = { $kind ->
    [emulated] An emulated { $name }
    [virtual] A virtual disk of { $name }, whose storage is hidden from here
    [file] The file { $name }
    [cached_file] Reads come from memory: the page cache lies below this loop device of { $name }
    [stacked] A device made of others that are hidden
    [network] { $name ->
        [none] A drive
       *[other] { $name }
     } on another machine
    [memory] Memory
    [no_model] A drive that reports no model
   *[model] { $name }
 } ({ $device }{ $transport ->
    [none] {""}
   *[other] , { $transport }
 }{ $size-bytes ->
    [none] {""}
   *[other] , { $size-bytes }
 }{ $firmware ->
    [none] {""}
   *[other] , firmware { $firmware }
 }){ $catalogue ->
    [none] .
   *[other] . In the catalog: { $catalogue }.
 }
    .next = { $kind ->
    [virtual] Run doctor on the host as well.
    [file] Run doctor on the directory that holds the file as well.
    [cached_file] Set it up anew: losetup --direct-io=on --find { $name }
    [network] Run doctor on that machine as well.
    [memory] Give a directory on a drive.
   *[other] {""}
 }

doctor-no-health-report = Such a device has no health report (SMART).
doctor-health-program-missing = { $program } is not installed, so the drive's health is unknown.
    .next = Install it and run as root (Debian and Ubuntu: apt-get install smartmontools; Fedora: dnf install smartmontools).
doctor-health-unreadable = The drive's health cannot be read ({ $cause ->
    [no_node] it has no device node
    [timed_out] { $program } gave no answer within { $what } s
    [output_lost] the output of { $program } is lost
    [no_output] { $program } printed nothing
    [no_json] the output of { $program } is no JSON: { $what }
    [nothing_reported] { $program } reports nothing about this disk
    [no_critical_warning] the output of { $program } has no critical_warning
   *[error] { $program ->
        [none] { $what }
       *[other] { $program }: { $what }
     }
 }).
    .next = Run as root; behind a RAID controller use the controller's own program.
doctor-health-not-read = The drive's health was not read.
doctor-health-no-verdict = { $program } has no verdict of the drive on its health.
    .next = Run as root.
doctor-health-critical = The drive reports a critical fault: { $fault ->
    [spare_low] too few spare blocks are left
    [temperature] its temperature is beyond a limit
    [media_errors] media errors have made it unreliable
    [read_only] it has become read-only
    [capacitors_failed] the capacitors that save its cache have failed
   *[memory_unreliable] its persistent memory has become unreliable
 } ({ $program }).
    .next = Save its data and replace it; do not use figures of it.
doctor-health-fails = The drive reports that it fails ({ $attribute ->
    [none] { $program }
   *[other] { $attribute }, { $program }
 }).
    .next = Save its data and replace it; do not use figures of it.
doctor-health-worn = { $used-percent } % of the drive's endurance is used up ({ $program }).
    .next = Inspect it with smartctl -a; a drive that repairs itself is slower than a sound one.
doctor-health-errors = { $kind ->
    [not_corrected] The drive did not correct all errors
    [unreadable] The drive has sectors that cannot be read
    [uncorrectable] The drive has sectors that could not be corrected
   *[replaced] The drive has replaced sectors
 } ({ $count }, { $program }).
    .next = Inspect it with smartctl -a; a drive that repairs itself is slower than a sound one.
doctor-health-good = The drive reports no fault ({ $program }{ $used-percent ->
    [none] {""}
   *[other] , { $used-percent } % of its endurance used
 }{ $spare-percent ->
    [none] {""}
   *[other] , { $spare-percent } % of the spare blocks left
 }{ $celsius ->
    [none] {""}
   *[other] , { $celsius } °C
 }).

doctor-cache-unknown = The kernel does not show whether the drive has a write cache.
doctor-cache-not-flushed = The drive has a write cache, but the kernel sends no flushes: a power cut takes what was acknowledged as durable.
    .next = echo "write back" > /sys/block/{ $device }/queue/write_cache
doctor-no-cache = The drive has no write cache, so the kernel sends no flushes (write through).
doctor-cache-unclear = The kernel sends no flushes (write through). Either the drive has no write cache, or this was set by hand.
    .next = { $is-virtual ->
    [true] Look up the cache mode of this disk on the host.
   *[other] Ask the drive: smartctl -g wcache, or nvme id-ctrl -H (vwc).
 }
doctor-cache-flushed = The kernel sends flushes ({ $mode }; { $fua ->
    [true] the drive makes single writes durable, FUA
    [false] no FUA: a durable write is a write and a flush
   *[other] FUA unknown
 }).
doctor-power-loss-protected = Acknowledged writes survive a power cut, flushed or not ({ $drive }{ $is-verified ->
    [true] {""}
   *[other] , unverified
 }).
doctor-power-loss-volatile = A power cut takes what was not flushed, so rates of synced writes are those of the medium ({ $drive }{ $is-verified ->
    [true] {""}
   *[other] , unverified
 }).
doctor-power-loss-no-cache = Acknowledged writes survive a power cut: the drive has no volatile cache.
doctor-power-loss-unknown = Whether acknowledged writes survive a power cut is unknown: { $of ->
    [virtual] the host decides what flushes do
    [write_through] the kernel's write through may have been set by hand
    [file] it depends on the drive that holds the file
   *[model] the model is not in the catalog
 }.
    .next = { $of ->
    [virtual] Look up the cache mode of this disk on the host.
    [write_through] Ask the drive: smartctl -g wcache, or nvme id-ctrl -H (vwc).
    [model] Look it up in the data sheet; name the drive with --drive NAME or a drive file.
   *[other] {""}
 }

doctor-scheduler-unknown = The kernel shows no I/O scheduler of { $device }.
doctor-scheduler-bfq = The I/O scheduler bfq shares the device among programs, which costs CPU for each request and throughput.
    .next = Set it for the measurement: echo none > /sys/block/{ $device }/queue/scheduler
doctor-scheduler = { $scheduler ->
    [none] Requests go to the device as they come (scheduler none).
   *[other] The I/O scheduler is { $scheduler }{ $is-nvme ->
        [true] , which reorders what an NVMe drive does not need reordered; none costs less CPU
       *[other] {""}
     }.
 }
doctor-queue-unknown = The kernel shows nothing about the device's queue.
doctor-queue = The queue takes { $requests ->
    [none] an unknown number of requests
   *[other] { $requests } requests
 }{ $largest-bytes ->
    [none] {""}
   *[other] {" "}of up to { $largest-bytes }
 }{ $logical-bytes ->
    [none] {""}
   *[other] {" "}(blocks of { $logical-bytes }, physical { $physical-bytes ->
        [none] unknown
       *[other] { $physical-bytes }
     })
 }{ $rotates ->
    [none] {""}
    [true] { $is-virtual ->
        [true] ; reported to rotate, as many virtual disks are
       *[other] ; reported to rotate
     }
   *[false] ; reported not to rotate
 }.
doctor-queue-not-counted = The kernel does not count this device's requests, so a report has no figures of it.
    .next = echo 1 > /sys/block/{ $device }/queue/iostats
doctor-queue-cuts-requests = The kernel cuts up requests above { $largest-bytes }, though the device takes larger ones.
    .next = echo 1280 > /sys/block/{ $device }/queue/max_sectors_kb
doctor-queue-rotates = The kernel takes this NVMe drive for a disk that rotates, and reads ahead and merges accordingly.
    .next = echo 0 > /sys/block/{ $device }/queue/rotational
doctor-whole-drive = { $device } is no partition, so it begins with its drive.
doctor-aligned = The partition begins on a whole block ({ $device } at { $start-bytes }).
doctor-misaligned = The partition begins in the midst of a block, so that a write there becomes two ({ $device }: { $off-bytes } off blocks of { $block-bytes }).
    .next = Partition it anew with its beginning at a whole MiB, as parted and fdisk do.
doctor-small-blocks = The filesystem's blocks ({ $block-bytes }) are smaller than the drive's ({ $physical-bytes }).
    .next = Make the filesystem anew with larger blocks.
doctor-noise-unknown = The kernel does not count this device's requests, so the load of others is unknown.
doctor-noise = { $level ->
    [ok] Others hardly use the device
   *[other] Others use the device, so their requests are in every figure
 } ({ $requests-per-second } requests and { $moved-bytes } a second, busy { $busy-percent } % of the time).
    .next = Stop them while measuring (iotop or pidstat -d lists them).

doctor-array = { $name } ({ $raid } of { $members ->
    [one] 1 drive
   *[other] { $members } drives
 }{ $spares ->
    [none] {""}
    [one] , 1 spare
   *[other] , { $spares } spares
 }) { $state ->
    [broken] answers with errors: too many drives are gone, or its journal is
    [degraded] is without { $missing } of its drives
    [busy] { $action ->
        [recover] is rebuilding
        [resync] is made consistent
        [reshape] is changing its layout
        [check] is being checked
       *[other] is busy with { $action }
     }
    [replaced] is whole, but a drive of it failed
    [errors] has had { $errors } errors of its drives
   *[whole] is whole
 }{ $done-percent ->
    [none] { $failed ->
        [none] {""}
       *[other] {" "}(failed: { $failed })
     }
   *[other] {" "}({ $done-percent } % done{ $failed ->
        [none] {""}
       *[other] ; failed: { $failed }
     })
 }{ $state ->
    [degraded] , so figures are those of a degraded array.
    [busy] , so figures are lower and less steady.
   *[other] .
 }
    .next = { $state ->
    [broken] Replace what failed; restore the data if the array cannot be assembled again.
    [degraded] Replace the drive and wait for the rebuild.
    [busy] Wait for its end, or stop it while measuring.
    [replaced] Remove it and add a new spare.
    [errors] Look for the drive (dmesg; of a btrfs: btrfs device stats) and replace it.
   *[other] {""}
 }
doctor-array-settings = { $chunk-bytes ->
    [none] {""}
   *[other] Chunk { $chunk-bytes },{" "}
 }{ $bitmap ->
    [none] { $chunk-bytes ->
        [none] No
       *[other] no
     } bitmap
   *[other] { $chunk-bytes ->
        [none] Bitmap
       *[other] bitmap
     } at { $bitmap }, a bit for { $bitmap-chunk-bytes } (each new region written to waits for a flush of all drives)
 }, { $journal ->
    [none] { $policy ->
        [ppl] partial parity log
       *[other] no journal
     }
   *[other] journal { $journal }
 }{ $stripe-cache ->
    [none] {""}
   *[other] , stripe cache { $stripe-cache } pages
 }{ $policy ->
    [none] {""}
   *[other] , consistency policy { $policy }
 }.
doctor-volume-settings = { $cache-mode ->
    [none] { $chunk-bytes ->
        [none] No striping
       *[other] Chunk { $chunk-bytes }
     }
   *[other] Cache { $cache-mode }{ $chunk-bytes ->
        [none] {""}
       *[other] , chunk { $chunk-bytes }
     }
 }{ $region-bytes ->
    [none] {""}
   *[other] , bitmap with a bit for { $region-bytes }
 }{ $zeroes ->
    [none] {""}
    [true] , allocated at the first write and filled with zeros before it
   *[false] , allocated at the first write
 }{ $used-percent ->
    [none] {""}
   *[other] , { $used-percent } % of the pool used
 }.
    .next = Free space in the pool or extend it (lvextend): a full pool stops writes.
doctor-ceph-pool = { $pool ->
    [none] {""}
   *[other] Pool { $pool }{ $copies ->
        [none] {""}
       *[other] : { $copies } copies, writes need { $least-copies }
     };{" "}
 }{ $osds-up } of { $osds } OSDs up, { $osds-in } in, { $degraded-percent } % of the objects' copies missing, { $health }.
    .next = ceph health detail
doctor-array-unknown = { $name } is { $layer ->
    [lvm] a logical volume on others or on several drives
   *[ceph] in Ceph
 }; how it is made is unknown, because { $layer ->
    [lvm] lvs
   *[ceph] the program ceph
 } { $cause ->
    [not_installed] is not installed
    [timed_out] did not answer within 5 s
    [not_asked] was not run
   *[no_answer] printed nothing about it
 }.
    .next = { $layer ->
    [lvm] As root (package lvm2): { $command }
   *[ceph] With the keyring of a client (package ceph-common): { $command }
 }
doctor-filesystem = { $kind ->
    [memory] { $filesystem } at { $mount } lies in memory: no drive is measured, and nothing survives a power cut.
    [network] { $filesystem } at { $mount } is on another machine, whose network and memory are measured as well.
    [layers] { $filesystem } at { $mount } are a container's layers, where the first write to a file copies it.
    [emulated] { $filesystem } at { $mount }, an emulated drive of plimsoll.
    [fuse] A program answers for { $filesystem } at { $mount }; what it does with a flush is unknown.
    [copy_on_write] { $filesystem } at { $mount } writes to a new place each time, so rates fall as it fills.
   *[plain] { $filesystem } at { $mount }.
 }
    .next = { $kind ->
    [memory] Give a directory on a filesystem that lies on the drive.
    [network] Measure on that machine, or state it beside every figure.
    [layers] Give a volume that is mounted into the container.
    [fuse] Read its documentation, or test it with --write.
   *[other] {""}
 }
doctor-mount-option = { $issue ->
    [no_barriers] The filesystem sends no flushes, so a power cut takes what databases take for durable
    [read_only] The filesystem is read-only, so it takes no load
    [writeback] After a power cut files may hold old data of others, and it is faster than what most people run
    [synchronous] Every write waits until it is durable, whatever a program wants
    [compressed] Data are compressed, so rates depend on what is written; fio's data do not compress by default
   *[async_commit] The journal's commit does not wait for its blocks: a power cut may damage the filesystem
 } (mount option { $option }).
    .next = { $issue ->
    [no_barriers] Mount it without that option: mount -o remount,{ $remedy } { $mount }
    [read_only] mount -o remount,rw { $mount }
    [writeback] Mount it with data=ordered, the default.
    [compressed] Set compressible in the plan's block job, or mount it without that option.
   *[other] Mount it without that option.
 }
doctor-mount-options-fine = { $atime ->
    [none] { $discard ->
        [none] No mount option matters here.
       *[other] {""}
     }
    [strictatime] Each read writes its time ({ $atime }).
   *[other] Reads hardly write ({ $atime }).
 }{ $discard ->
    [none] {""}
   *[other] {" "}Each deletion is sent to the drive at once, which slows some drives down ({ $discard }).
 }
doctor-space = { $level ->
    [error] The filesystem is full
    [warning] A drive and a filesystem this full spend their time making room
   *[ok] There is room
 } ({ $free-bytes } free of { $size-bytes }, { $used-percent } % used).
    .next = { $level ->
    [error] Free space there.
   *[other] Free space there, or state it beside the figures.
 }
doctor-no-files-left = All { $files } files of the filesystem are in use.
    .next = Remove some.

doctor-no-device-to-read = There is no block device whose blocks could be read.
doctor-unreadable = { $path } cannot be read ({ $error }).
    .next = { $cause ->
    [not_root] Run as root.
    [confined] A container or security module keeps it from root: run outside of that.
   *[other] {""}
 }
doctor-too-small-to-read = { $path } is smaller than a block ({ $block-bytes }).
doctor-holes = Much of the file has no blocks: reading there touches no drive, writing there allocates first ({ $holes-bytes } of { $size-bytes }, { $share-percent } %).
    .next = Write all of it once before reads are measured (plimsoll's block jobs do, in files of their own).
doctor-unwritten = { $state ->
    [never_written] Much of { $path } was probably never written, and is read without touching the medium
    [mostly_zero] Much of the drive is unwritten, so first writes may have to allocate and garbage collection has room
   *[written] Most sampled blocks are written
 } ({ $zero-percent } % ± { $error-percent } of { $blocks } blocks of { $path } are zero{ $read-ns ->
    [none] {""}
   *[other] ; a read took { $read-ns }
 }).
    .next = { $state ->
    [never_written] Write all of it once before reads are measured (plimsoll's block jobs do, in files of their own).
   *[other] {""}
 }
doctor-all-zero = All { $blocks } blocks that were read are zero.
doctor-entropy = About { $compressible-percent } % of the data there is compressible ({ $bits-per-byte } bits per byte in { $blocks } blocks that are not zero).

doctor-flush-untested = Flushes were not tested: that takes writes.
    .next = { $directory ->
    [none] Test it with --write in a directory on it.
   *[other] Test it: plimsoll doctor { $directory } --write
 }
doctor-flush-untestable = { $is-device ->
    [true] Flushes were not tested: writing to the device would destroy what it holds.
   *[other] Flushes were not tested: the file is not written to.
 }
    .next = Give a directory on it.
doctor-flush-test-failed = Flushes could not be tested ({ $error }).
    .next = { $cause ->
    [no_space] Free space there, or give another directory: df { $directory }
    [read_only] It is mounted read-only: mount -o remount,rw, or find the reason in the kernel's log (dmesg).
    [not_permitted] Give a directory on the drive that this user may write to.
   *[other] Check the kernel's log (dmesg), or give another directory on the drive.
 }
doctor-flush-limit = { $limit ->
    [model] the emulated drive makes { $limit-per-second } writes a second durable
    [rotation] a disk comes by the same place { $limit-per-second } times a second at most
    [seeks] reads at random take { $read-ns }, as of a disk, which comes by the same place { $limit-per-second } times a second at most
   *[other] a page of flash takes at least 100 µs to program
 }
doctor-flush-rates = { $unsynced-per-second } writes of 4 KiB a second{ $is-direct ->
    [true] {""}
   *[other] {" "}into the page cache
 }, { $synced-per-second } with fdatasync (the flush takes { $flush-ns }), { $dsync-per-second } with O_DSYNC
doctor-flush = { $outcome ->
    [protected] Flushes are fast, as they may be: the drive's cache is protected.
    [plausible] Flushes take as long as the medium needs.
    [no_limit] Whether flushes take as long as the medium needs is unknown.
    [ignored] FLUSHES ARE IGNORED: { doctor-flush-limit }.
    [ignored_or_protected] FLUSHES ARE IGNORED, or the cache is protected: { doctor-flush-limit }.
    [free] A flush costs next to nothing: the cache is protected, or flushes are ignored and a power cut takes what was committed.
   *[takes_time] Flushes reach something that takes its time.
 } { doctor-flush-rates }.
    .next = { $outcome ->
    [ignored] Do not run a database on it that must not lose what it has committed. On purpose (flush = "ignored") it shows just that.
    [protected] {""}
    [plausible] {""}
    [takes_time] {""}
   *[other] Find out whether its cache is protected (data sheet, controller, host); name the drive with --drive, or cut the power.
 }
