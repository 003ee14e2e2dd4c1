# Events of a run: a sentence, and its evidence in parentheses.

event-plan = { $warning }
event-leftovers = Removed what a killed run had left: { $removed }
event-conservation = { $in-flight } intents are unaccounted for at the end of the lane ({ $counted } by the connections' own count).
event-unanswered = { $transactions ->
    [1] 1 transaction
   *[other] { $transactions } transactions
} got no answer from the server before the lane ended.
event-late = { $outcomes } outcomes were recorded after their second was merged, and count in the next.
event-overflow = { $outcomes } outcomes were lost because a buffer was full: the run is invalid.
event-more-events = { $events } more events of code { $event } were counted and not listed.
event-retries-exhausted = A transaction failed after all its retries (connection { $connection }: { $error }).
event-failed = A transaction failed (connection { $connection }: { $error }).
event-connection-lost = A connection was lost and is opened again (connection { $connection }: { $error }).
event-reconnected = { $server-away ->
    [true] The server was away from { $from-s } to { $first-s } s (connections were lost { $lost } times and opened again { $reopened } times, the last at { $last-s } s, after { $refused } failed attempts; { $error }).
   *[other] { $lost } of { $connections } connections were lost, and open again after { $last-s } s (from { $from-s } s; { $error }).
 }
event-not-reconnected = { $away } connections were not open again when the point ended (at { $until-s } s; { $lost } were lost from { $from-s } s on).
event-host-lost = The host { $host } was lost: { $why }. Its last second ended { $since-s } s after the start; what followed is left out.
event-link-cut = The link to the host { $host } was cut for { $seconds } s. Its worker went on, and no second is missing.
event-run-joined = plimsoll was killed during the run. { $seconds } s under load were read from the journals of { $hosts } afterwards.
event-host-date-set = The date of the host { $host } was set by { $ms } ms during the run.
event-connections-lost = Connections were lost { $lost } times in { $outages } outages, and opened again { $reopened } times.
event-end-of-log = The end of its log: { $log }
event-server-died = The server of system { $system } ended unexpectedly ({ $error }).
event-disk-full = System { $system } cannot write: { $is-quota ->
    [true] the disk quota on { $place } is used up
   *[other] no space left on { $place }
 } ({ $error }{ $free-bytes ->
    [none] {""}
   *[other] ; { $free-bytes } free of { $size-bytes }
 }{ $is-out-of-inodes ->
    [true] ; no inodes left
   *[other] {""}
 }).
event-not-recovered = After the power cut the database does not come up again (step { $step }: { $error }).
event-not-verified = The consistency conditions could not be verified (step { $step }: { $error }).
event-without-tls = Connections to the server are not encrypted: TLS was tried and failed ({ $error }).
event-pooler = The load goes through { $pooler }, whose time and connections are part of the figures.
event-no-power-cut = The planned power cut did not take place: there is no emulated drive, or the load ended before it (step { $step }).
event-figures = { $figures ->
    [cpu] the CPU
    [memory] memory
    [pressure] pressure; the kernel may lack PSI
    [network] the network
    [device] this device
    [flushes] flushes; Linux 5.5 and later count them
    [space] used and free space
    [data_size] the size of the system's data
    [backup_writes] what backups write each second
    [process_io] the system's I/O
    [generator_cpu] plimsoll's CPU
    [generator_memory] plimsoll's memory
   *[server] the server's counters and wait states until it answers
 }
event-unreadable = There are no figures for { event-figures } ({ $source ->
    [none] { $error }
   *[other] { $source }{ $error ->
        [none] {""}
       *[other] : { $error }
     }
 }).
event-not-shown = { $what ->
    [log_counters] { $server } does not count writes and syncs of its log; PostgreSQL 14 and later do.
    [sessions] States of some sessions are hidden from the user "{ $user }". To show them: GRANT pg_read_all_stats TO "{ $user }".
    [activities] States of sessions are unknown, because track_activities is off; set it to on.
    [files] Reads and writes of data files and the log are hidden from the user "{ $user }", with their waits. To show them: GRANT SELECT ON performance_schema.* TO this user.
    [views] The server does not show { $server } to this login. To show it: GRANT VIEW SERVER STATE TO this login.
   *[transactions] Transactions are hidden from the user "{ $user }": waits for row locks count as cpu, sessions in a transaction as idle. To show them: GRANT PROCESS ON *.* TO this user.
 }
event-stand-in = This is { $product }, not a { $server }: the figures hold for it alone.
event-approximated = The system's memory is approximated as the sum of what each process has for itself, and the largest that one shares ({ $source }: { $error }).
event-ended = A process has ended, so there are no more figures for its CPU, memory and I/O ({ $source }: { $error }).
event-no-device = Medium { $medium } has no block device to watch ({ no-device-cause }).
event-doctor = The doctor could not check the medium ({ $error }).
event-tried = { $tried ->
    [none] at full speed
   *[other] { $tried } times slower
 }
event-lateness = { $added-percent ->
    [none] the emulator of { $medium } had no time left
   *[other] answers for { $medium } took { $added-percent } % longer than modeled
 }
event-full-speed = Emulated drives run at full speed: this machine answers in time for all of them.
event-full-speed-of = { $media }: emulated at full speed, this machine answers in time.
event-slowed-down = { $media ->
    [none] Emulated drives run { $factor } times slower than rated
   *[other] { $media }: emulated { $factor } times slower than rated
 } ({ event-tried }, { event-lateness }).
event-begun-again = The run begins again with { $media ->
    [none] emulated drives
   *[other] { $media }
 } { $factor } times slower than rated ({ event-tried }, { event-lateness } at { $point }; what was measured is in { $kept }).
event-not-emulated = Medium { $medium }: the drive { $drive } is NOT emulated, the figures are those of { $path } ({ $error }).
event-emulator-stopped = The emulator itself did not run for { $stopped-ms } ms of a second (a stop, a CPU quota, or other work on all cores): requests waited before they were read, which their lateness does not show.
event-saturated = The emulator's reader was busy for { $busy-percent } % of a second: requests wait before they are read, which their lateness does not show. Ask less of the drive, or use a machine with more idle cores.
event-backing-full = The drive's backing store reached its limit of { $limit-bytes }: writes to new places fail with "no space left".
event-member-failed = Member { $member } of the array failed{ $data-lost ->
    [true] , and data are lost: every request gets an error from now on.
   *[false] . The array is degraded.
 }
event-member-replaced = Member { $member } of the array was replaced: the new drive is filled from the others.
event-member-returned = Member { $member } of the array is there again with its old data: what was written meanwhile is copied, or everything where that is not known.
event-member-repair-begun = Member { $member } of the array has been missing for so long that what it had is rebuilt on others.
event-member-rebuilt = Member { $member } of the array is rebuilt after { $seconds } s.
event-member-slowed = Member { $member } of the array is { $factor } times slower than before all events.
event-member-recovered = Member { $member } of the array is as fast again as before all events.
event-network-changed = The network has { $gbit } Gbit/s ({ $usual-gbit } Gbit/s before all events).
event-backing-slower = A long load will show the disk below { $directory } instead of the drive: the disk writes { $disk-mb-per-second } MB/s and reads 4 KiB in { $disk-read-ns }, the emulated drive { $drive-mb-per-second } MB/s and { $drive-read-ns }.
event-emulator-talk = The drive's emulator sent an unknown message ({ $error }).
event-limits-untried = System { $system }: its I/O limits are set but untested ({ $error }).
event-not-limited = System { $system } is NOT limited and may use the whole machine ({ $error }).
event-overwritten = Medium { $medium }: { $device } is overwritten{ $signatures ->
    [none] { $partitions ->
        [none] ; nothing was recognized on it
       *[other] {""}
     }
   *[other] ; it held a signature of { $signatures }
 }{ $partitions ->
    [none] {""}
   *[other] ; it had the partitions { $partitions }
 }.
event-not-steady = Step { $step } was not steady after { $rounds ->
    [1] 1 round
   *[other] { $rounds } rounds
}.
event-no-curve = Step { $step }: the job { $job } completed no requests, so it has no curve.
event-cleanup = Not everything could be removed ({ $error }).
event-teardown = The emulated drive could not be taken down cleanly ({ $error }).
