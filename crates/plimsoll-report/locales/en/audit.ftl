# What the audit reports: rules, their evidence, why a rule was not evaluated, what to do next.

audit-title = Audit
audit-page-question = Can these figures be quoted?
audit-page-how = plimsoll audit --explain CODE explains a rule and its thresholds.
audit-answer-error = { $of }: some of these figures must not be quoted ({ $codes }).
audit-answer-warning = { $of }: read these warnings before you quote the figures ({ $codes }).
audit-answer-clean = { $of }: no issues found; { $passed } of { $rules } rules could be evaluated.
audit-answer-unknown = { $of }: no rule could be evaluated: too little is stated.
audit-heading = Audit: { $errors ->
    [one] 1 error
   *[other] { $errors } errors
}, { $warnings ->
    [one] 1 warning
   *[other] { $warnings } warnings
}, { $notes ->
    [one] 1 note
   *[other] { $notes } notes
}; { $passed ->
    [one] 1 rule
   *[other] { $passed } rules
} passed, { $skipped } not evaluated.
audit-passed = Passed
audit-not-evaluated = Not evaluated, and why
audit-not-evaluated-rules = Not evaluated
audit-next = Next: { $next }
fault-plan-unreadable = The plan in the run file cannot be read, so no figure is evaluated: { $reason }
fault-next = Audit the file from which this one was copied, or run the plan again.
audit-adjusted = Changed by the plan: { $what } { $value } { $unit } instead of { $default } { $unit }.
audit-at = { $place }: { $text }
audit-cases = { $n } cases ({ $which })
audit-pair = { $first } against { $second }
audit-see-above = See the finding above.
audit-load = { $load }, { $step }, { $on }
audit-load-job = { $job }, { $load }, { $step }, { $on }
audit-load-users = { $users } users
audit-load-one = 1 user
audit-load-rate = { $rate }/s
audit-load-repeat = { $load }, repeat { $repeat }
audit-load-in-flight = { $users } in flight
column-rule = Rule
column-places = Cases
column-evidence = Evidence
column-because = Reason

evidence-in-flight = By Little's law { $found } were in flight ({ $per-second }/s × { $mean-ms } ms), where { $asked } were kept in flight: { $off-percent } % off (limit { $limit-percent } %).
evidence-conserved = Counts add up { $seconds ->
    [1] in the only second
   *[other] in each of { $seconds } seconds
}.
evidence-counted = { $offered } offered, { $settled } settled.
evidence-held = The rates of the window's five parts differ by { $range-percent } % of their mean (limit { $range-limit-percent } %), and go { $slope-percent } % up or down along the line through them (limit { $slope-limit-percent } %).
evidence-response-times = Mean response times of the window's five parts differ by { $range-percent } % of their mean (limit { $range-limit-percent } %), and go { $slope-percent } % up or down along the line through them (limit { $slope-limit-percent } %).
evidence-window = { $measured-s } s were measured; at least { $fewest-s } s are needed.
evidence-response-interval = Half the 95 % interval is { $percent } % of the mean response time (limit { $limit-percent } %).
evidence-halves = The second half of the window is { $off-percent } % off the first (limit { $limit-percent } %).
evidence-interval = Half the 95 % interval is { $percent } % of the rate{ $measured-s ->
    [none] {""}
   *[other] , measured for { $measured-s } s
 } (limit { $limit-percent } %).
evidence-no-interval = { $measured-s } s and { $repeats ->
    [one] one repeat
   *[other] { $repeats } repeats
 } are too few for a confidence interval: { $fewest-s } s or { $fewest-repeats } repeats are needed.
evidence-checkpoints = { $found ->
    [one] 1 checkpoint
   *[other] { $found } checkpoints
} in the window, { $fewest } are needed.
evidence-written = { $written-mb } MB were written, and the drive's own memory holds { $cache-mb } MB.
evidence-data-and-memory = { $data-mb } MB of data, { $memory-mb } MB of memory for buffer and page cache.
evidence-page-cache = Requests went through the page cache (direct=0) and may have been answered from memory, whose size is not known.
evidence-reached-device = { $percent } % of the reads reached the device: the file may be sparse, never written, or in memory.
evidence-fast-reads = A read took { $mean-us } µs on average, less than the { $fastest-us } µs that the fastest drives need: the file may be sparse, never written, or in memory.
evidence-fast-link = { $device } read { $mb-per-second } MB/s, and a SATA link carries { $limit-mb }: unless it is another kind of drive or an array, the file may be sparse or never written.
evidence-device-reads = { $per-transaction } reads of the device for each transaction ({ $fewest } are needed).
evidence-generator-busy = The load generator used { $percent } % of a core (limit { $limit-percent } %).
evidence-generator-stopped = { $cause ->
    [quota] plimsoll itself was stopped for { $stopped-s } s of { $measured-s } s, by the CPU quota of its control group: response times include that (limit { $limit-percent } %).
    [cpu] plimsoll itself had no CPU for { $stopped-s } s of { $measured-s } s: response times include that (limit { $limit-percent } %).
   *[other] plimsoll itself did not run for { $stopped-s } s of { $measured-s } s, by a signal or a pause of its machine: response times include that (limit { $limit-percent } %).
 }
evidence-generator-waits = { $percent } % of all response times are waits of plimsoll's own threads for a CPU (limit { $limit-percent } %).
evidence-schedule-lag = 1 % of the intents started { $p99-ms } ms late or later, { $percent } % of the median response of { $response-p50-ms } ms (limit { $limit-percent } %).
evidence-dropped = { $cause ->
    [none] Nothing was dropped.
    [system] { $dropped } transactions ({ $percent } %) were dropped: all connections were busy with others ({ $busy-percent } % of the time), so the system did not carry this rate.
    [generator] { $dropped } transactions ({ $percent } %) were dropped, and the load generator's CPU was full.
   *[other] { $dropped } transactions ({ $percent } %) were dropped or skipped. It is not known whether the system or the load generator was too slow.
 }
evidence-generator-at = { $place ->
    [same] The load generator ran on the machine of the system.
   *[other] The load generator ran on another machine.
 }
evidence-generators-at = The load generator ran { $first ->
    [same] beside the system
   *[other] on another machine
 } on the first side, and { $second ->
    [same] beside the system
   *[other] on another machine
 } on the second.
evidence-latencies = { $from ->
    [start] Latencies of an open loop count from the start of a transaction: what waited before it is left out.
    [closed] In a closed loop a transaction is due when it starts.
   *[due] Latencies count from the time when a transaction was due.
 }
evidence-percentiles = { $from ->
    [averaged] Percentiles were averaged over clients or intervals.
   *[merged] Percentiles come from merged histograms.
 }
evidence-unsafe = { $setting } = { $value } can lose acknowledged commits.
evidence-safe = Checked: { $settings }.
evidence-settings-differ = { $setting } is { $first } on the first side and { $second } on the second.
evidence-kept = All { $acknowledged } acknowledged transactions survived the power cut.
evidence-flush-time = { $per-second } flushes/s took { $mean-us } µs each; the medium needs { $fastest-us } µs.
evidence-maintenance = { $what }: { $first } on the first side, { $second } on the second.
evidence-filled = The space was written { $fill } times from end to end before.
evidence-compressible = { $found-percent } % of the test data is compressible, { $stated-percent } % is stated (limit { $limit-percent } points more).
evidence-steal = { $percent } % of the CPUs' time went to other virtual machines (limit { $limit-percent } %).
evidence-other-cpu = Programs other than the system, plimsoll and its emulators used { $percent } % of the machine's CPU time (limit { $limit-percent } %).
evidence-governor = Governor of the processors: { $governor }.
evidence-calibration = The calibration after the run was { $off-percent } % off the one before (limit { $limit-percent } %).
evidence-other-io = { $percent } % of the device's I/O was not the system's (limit { $limit-percent } %).
evidence-unlike = The workloads differ: { $differs }.
evidence-factors = { $differs ->
    [none] Nothing that is known differs except { $factor ->
        [none] an unnamed factor
       *[other] { $factor }
     }.
   *[other] { $factor ->
        [none] Several things differ, and which of them makes the difference is not shown: { $differs }.
       *[other] Besides { $factor } this differs: { $differs }.
     }
 }
evidence-victims = { $first } systems beside { $noise-first ->
    [none] nothing
   *[other] { $noise-first }
 } against { $second } beside { $noise-second ->
    [none] nothing
   *[other] { $noise-second }
 }.
evidence-tpm-per-nopm = TPM/NOPM is { $found }, the mix gives { $expected }: { $off-percent } % off (limit { $limit-percent } %).
evidence-ratios-differ = TPM/NOPM is { $first } on the first side and { $second } on the second: { $off-percent } % apart (limit { $limit-percent } %).
evidence-bytes-per = { $first } bytes for each { $unit } on the first side, { $second } on the second: { $off-percent } % apart (limit { $limit-percent } %).
evidence-moved = { $mb-per-second } MB/s × { $seconds } s = { $product-mb } MB, where { $moved-mb } MB were moved: { $off-percent } % off (limit { $limit-percent } %).
evidence-stated = The figures are { $first } and { $second }, a ratio of { $ratio } (a change of { $percent } %); the sentence states a ratio of { $stated } (limit { $limit-percent } % off).
evidence-conditions = { $failed ->
    [none] { $verified } consistency conditions hold.
   *[other] Of { $verified } consistency conditions these fail: { $failed }.
 }
evidence-kept-up = { $drive } completed { $ops } operations in time: { $late-percent } % late at the median (limit 10 %), { $beyond-percent } % beyond the next percentile (limit 1 %).
evidence-simulated-cpu = { $percent } % of the sessions' work is CPU, whose costs are assumed (limit { $limit-percent } %).
evidence-simulated-memory = The page cache has { $memory }. With little memory Linux 6.18 read more often than this model.
evidence-simulated-enough = All data fit into the page cache.
evidence-repeats = { $first ->
    [one] 1 run
   *[other] { $first } runs
} on the first side, { $second } on the second; { $fewest } are needed.
evidence-repeat-spread = Repeats differ by { $spread-percent } %, the sides by { $effect-percent } %.
evidence-in-order = Latencies rise in their order: { $percentiles }.
evidence-out-of-order = { $lower } is { $lower-ms } ms and above { $higher }, which is { $higher-ms } ms.
evidence-mean-at-least = The mean is { $mean-ms } ms; the percentiles allow { $bound-ms } ms or more.
evidence-mean-at-most = The mean is { $mean-ms } ms; the percentiles allow { $bound-ms } ms or less.
evidence-new-orders = NOPM, a part of TPM, is { $nopm }; TPM is { $tpm }.
evidence-bandwidth-of = { $per-second }/s × { $request-kib } KiB = { $product-mb } MB/s, where { $mb-per-second } MB/s are stated: { $off-percent } % off (limit { $limit-percent } %).
evidence-range-of = The lowest { $figure } is { $low }, the highest { $high }.
evidence-beside-others = { $figure } is { $value }, { $times } times the value expected from the rows beside it ({ $expected }; limit { $limit } times).
evidence-added-up = { $parts } = { $sum-h } h, where { $stated-h } h are stated: { $off-percent } % off (limit { $limit-percent } %).
evidence-digest-matches = The content of the run file matches its digest.
evidence-digest-differs = The content of the run file does not match its digest: it was changed or damaged after the run.
evidence-no-digest = The run is closed, but its run file has no digest: it was changed, or plimsoll was killed in the last moment.
evidence-no-finding = Nothing else was found.
evidence-diagnosed = The doctor on { $of ->
    [none] the machine
   *[other] { $of }
 }, { $code }: { $found }

missing-nothing-measured = nothing was measured
missing-plan-unreadable = the plan in the run file cannot be read
missing-not-for-this-load = this kind of load has no such figure
missing-too-few = there are too few to evaluate
missing-too-short-for-longest = the window is too short for its longest transaction, which may have begun before it or ended after it
missing-few-intervals = there are fewer than five intervals
missing-no-window = the length of the window is missing
missing-too-short = the window is too short, or its rates were meant to change
missing-no-in-flight = rate, mean latency or number in flight is missing
missing-computed-mean = the tool computed the mean latency from rate and clients, so they always agree
missing-too-few-digits = the mean latency is printed with too few digits
missing-no-counts = counts of offered, failed and dropped are missing
missing-no-series = there are no figures over time
missing-no-responses = response times are not known second by second
missing-no-interval = there is no interval of the rate
missing-no-checkpoints = there is no count of checkpoints
missing-no-drive-cache = the size of the drive's own memory is not known
missing-no-sizes = sizes of data and memory are not both known
missing-no-device-counters = there are no counters of the device
missing-no-generator = the load generator was not monitored
missing-embedded = the system runs inside the load generator
missing-no-run-delay = the kernel does not count how long plimsoll's threads waited for a CPU
missing-no-lag = a late start cannot be distinguished from waiting for a free connection
missing-no-place = the location of the load generator is missing
missing-no-method = it is not stated how latencies were computed
missing-no-settings = durability settings are missing
missing-no-flushes = there are no counts and times of flushes
missing-no-medium = the medium's best possible figures are not known
missing-no-maintenance = there is no record of checkpoints, vacuum and backups
missing-no-sampling = no blocks were sampled, and it is not stated how they were filled
missing-no-host = the machine was not monitored
missing-no-system-cpu = CPU time of the system (or of fio) was not monitored, so that of other programs is not known
missing-no-governor = the governor of the processors is not known
missing-no-calibration = there is no calibration before and after
missing-one-side = there are no two sides that can be compared
missing-no-configuration = the configuration of a side is missing
missing-no-noise = noise is not what is compared, or is not stated
missing-no-tpm = TPM or NOPM is missing
missing-no-backup = there is no backup or restore
missing-no-bytes = bandwidth, time or bytes are missing
missing-no-sentence = the claim has no sentences
missing-no-figures = the figures that the sentence refers to are missing
missing-not-verified = no consistency condition was verified
missing-no-emulation = no drive is emulated
missing-no-simulation = nothing is simulated
missing-no-waits = what sessions spent their time on was not recorded
missing-emulation-unreported = the emulator did not report on the whole window
missing-no-repeats = the number of runs is not stated
missing-by-construction = MB/s of a restore are computed from its bytes and time, so they always agree
missing-no-cache-mode = whether requests went past the page cache is not known
missing-past-the-cache = requests went past the page cache
missing-no-run-file = the figures are in no run file
missing-file-open = the run file was never closed, so that it has no digest
missing-nothing-to-lose = no acknowledged transaction could be checked
missing-one-figure = no two figures are stated that depend on each other
missing-no-duration = no time is stated together with its parts

next-ask-for-window = Ask for the raw data: rate, latency and number in flight cannot all be of one window.
next-find-idle-users = Find out whether a client ended early or waited between transactions; if none did, ask for the raw data.
next-relieve-client = State it beside the figures: between requests the load generator and its CPU took the time, not the medium.
next-distrust-counts = Do not use these figures; find out which outcomes were not counted.
next-measure-longer = Measure for longer.
next-report-often = Let the tool report at shorter intervals, such as every second.
next-find-difference = Find out what differs between the repeats: longer windows do not make them agree.
next-measure-longer-or-repeat = Measure for five minutes or longer, or repeat the load three times (repeat = 3).
next-warm-up-longer = Warm up for longer, or find what changes over time.
next-grow-data = Make the data larger than memory, or limit memory; only then call it a storage test.
next-lift-quota = Run plimsoll without a CPU quota, or with one that it does not reach.
next-let-client-run = Measure again, and let plimsoll run without a stop.
next-bypass-cache = Measure with direct=1, or with a file several times as large as memory.
next-verify-file = Write the whole file before it is read, and compare with the device's own counters (iostat).
next-strengthen-client = Give the load generator more cores or another machine, or offer less.
next-offer-less = Offer a lower rate, or remove the bottleneck of the system.
next-find-drop-cause = Offer a lower rate, or measure the load generator's CPU and how busy its connections are.
next-move-client = State it beside the figures, or run the load generator on another machine.
next-move-both-clients = Run the load generator in the same place on both sides.
next-count-from-due = Count latencies from the time when each transaction was due.
next-make-durable = Make commits durable, or state beside each figure that they are not.
next-make-equal = Measure both sides with the same durability.
next-check-flush = Find out what protects the drive's cache, or cut the power: plimsoll doctor.
next-cover-maintenance = Make windows so long that they hold maintenance on both sides.
next-write-first = Write all of the space before it is read.
next-use-random-data = Use data that cannot be compressed, or state its compressibility.
next-quiet-machine = Use a machine that does nothing else, with its processors at full clock.
next-merge-histograms = Merge histograms, and take percentiles of the sum.
next-change-one-thing = Change one thing at a time, or do not name it as the cause.
next-same-workload = Compare runs of the same workload.
next-keep-victims = Compare the same number of loaded systems with and without noise.
next-count-transactions = Count business transactions of all types, on both sides alike.
next-load-same-data = Load the same data on both sides.
next-ask-for-bytes = Ask how many bytes were moved, and whether they were compressed.
next-state-ratio = State ratio, change and percent once, as they are computed.
next-keep-database-and-ask = Keep the database as it is, and find out what lost or invented rows.
next-measure-without-errors = Find out why the tool reports errors, and measure again without them.
next-slower-drive-or-less = Use fewer users, a drive slowed further (a larger slower in its medium), or a machine that does nothing else.
next-other-cpu-speeds = State the figures at other speeds of the processors beside it: limits = {"{"} cpu_speed = 0.65 {"}"} of the system, and 1.5.
next-memory-on-real-drive = Expect lower figures, or measure with this memory on a real drive.
next-restore-file = Take the run file from a backup, or measure again.
next-mend-finding = Mend what the finding names and measure again, or state it beside the figures.
next-repeat-more = Measure each side several times.
next-check-source = Compare these figures with their source: at least one of them is wrong.
next-ask-for-times = Ask how long each part lasted.

rule-little = Throughput × mean latency is the number in flight (Little's law). Where a closed loop keeps n requests in flight and the product is not n, rate, latency and n are not of one measurement.
rule-conserve = Everything offered was committed, rolled back, failed or dropped. What is missing was not counted, and it is seldom the fast part.
rule-steady = The rate held over the window: by SNIA's rule for five parts, and the second half against the first. A drive that is still filling its buffer performs differently an hour later.
rule-short = The window was long enough: the interval of the rate is narrow, it holds checkpoints, and more was written than the drive's own memory takes.
rule-cached = The data did not fit into memory, and reads reached the device. Otherwise it is a CPU test, not a storage test.
rule-client = The load generator kept up: no core of it was full, nothing was started late, nothing was dropped.
rule-samebox = The load generator took no CPU from the system, or did so on both sides.
rule-omission = Latencies of an open loop count from when a transaction was due. Counted from its start they leave out what waited while the system stalled (coordinated omission).
rule-durable = Acknowledged commits survive a power cut, on both sides. Commits that need not be durable are several times as fast.
rule-lies = Flushes take as long as the medium needs, or something protects its cache.
rule-maint = Checkpoints, vacuum, purge and backups ran on both sides or on neither.
rule-thin = Reads met blocks that had been written. Drives answer reads of other blocks without access to the medium.
rule-entropy = Test data was no more compressible than the plan states. Drives and arrays that compress are faster with such data.
rule-noise = Nothing else used machine and device: steal, governor, other I/O, calibration before and after.
rule-pctavg = Percentiles come from merged histograms. A mean of percentiles is not a percentile.
rule-onefactor = Compared sides differ in the factor that is named, and in nothing else.
rule-victims = A comparison with noisy neighbours keeps the number of loaded systems. With fewer of them, each gets more.
rule-ratio = TPM/NOPM is that of the mix, and the same on both sides. Otherwise TPM counts something else.
rule-size = Bytes for each warehouse or row are the same where the data are claimed to be the same.
rule-rate = MB/s × seconds are the bytes that were moved.
rule-wording = Sentences follow from figures: 1.5 times are 50 % more, and not 150 %.
rule-consist = The database is consistent after the run. A database that loses or invents rows can be arbitrarily fast.
rule-emulated = The emulated drive completed requests at the times of its model. Otherwise the figures are the emulator's.
rule-virtual = Simulated figures rest on what the model does well: the drive and not the processors decide, and the page cache holds all data. CPU costs are assumed; Linux makes less of little memory.
rule-repeat = Each side was measured several times, and differs from the other by more than from itself.
rule-plausible = Figures of a load can all be true at once: percentiles rise, the mean lies where they leave room for it, NOPM is no more than TPM, MB/s are rate × size of requests, the lowest of several is not above the highest, and no rate is a hundred times that of the rows beside it in a ladder.
rule-duration = A time is the sum of its parts. A missing part was not described.
rule-intact = The run file is as it was when its run ended: its content matches the digest stored then. Otherwise its figures may have been changed.
rule-finding = Nothing else was found that no other rule evaluates: transactions that failed, a run or phase that ended early, seconds without a record, figures of another tool whose output lacks something.

answer-limit-little = Rate, latency and number in flight contradict each other
answer-limit-conserve = Counts of transactions do not add up
answer-limit-steady = The rate was not steady
answer-limit-short = The measurement was too short
answer-limit-cached = The data fit into memory, so few reads reached the drive
answer-limit-client = The load generator did not keep up
answer-limit-samebox = Generator and system shared a machine on one side only
answer-limit-omission = Latencies leave waiting out
answer-limit-durable = Commits are not durable, or not on both sides
answer-limit-lies = Flushes were faster than the medium can be
answer-limit-maint = Checkpoints or backups ran on one side only
answer-limit-thin = Reads met blocks that were never written
answer-limit-entropy = The data was more compressible than stated
answer-limit-noise = Something else used the machine
answer-limit-pctavg = Percentiles were averaged
answer-limit-onefactor = The sides differ in more than one thing
answer-limit-victims = The number of loaded systems differs
answer-limit-ratio = TPM and NOPM do not fit the mix
answer-limit-size = Sizes of the data differ
answer-limit-rate = MB/s and bytes moved contradict each other
answer-limit-wording = A sentence does not follow from the figures
answer-limit-consist = A consistency condition fails, or could not be verified
answer-limit-emulated = Requests took longer than on the drive that is emulated
answer-limit-virtual = Linux read more often than the model with so little memory
answer-limit-repeat = One run of each, so run-to-run variation is unknown
answer-limit-plausible = Figures cannot all be true
answer-limit-duration = Times do not add up
answer-limit-finding = See the findings
answer-limit-intact = The run file changed after its run
