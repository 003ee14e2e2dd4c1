# All text in tables and reports. A test checks that every id here is used and every id used is here.

## Terms

severity-note = note
severity-warning = warning
severity-error = error

verdict-sound = sound
verdict-doubtful = doubtful
verdict-invalid = invalid

status-unfinished = unfinished
status-complete = complete
status-interrupted = interrupted
status-failed = failed

phase-prepare = prepare
phase-warm = warm
phase-measure = measure
phase-cool = cool
phase-check = check

subject-host = Machine
subject-device = Device
subject-medium = Medium
subject-emulator = Emulator of
subject-system = System
subject-generator = Load generator
subject-backup = Backup of

## Both tables and report

not-tpc = TPC-C-derived. Not a TPC result, and not comparable with published TPC results.
ladder = { $step }: { $system }, { $mode }
ladder-on = { $step }: { $system } on medium { $medium }, { $mode }
point-one = 1 user, { $step }, { $system }
point-closed = { $users } users, { $step }, { $system }
scene-quiet = { $place }, without noise
scene-noisy = { $place }, with noise
points-same = { $points } points, { $step }, { $system }
points-like = { $points } points, first: { $point }
point-repeat = { $point }, repeat { $repeat }
block-whole = { $step }, { $medium }
block-point = { $job }, { $step }, { $medium }
block-point-round = { $job }, round { $round }, { $step }, { $medium }
block-at = { $job } at { $share } %
point-open = { $rate }/s offered, { $step }, { $system }
emulated-drive = Emulated drive: { $drive }
medium-emulated = { $medium } (emulated)
legend-step = { $step }, { $curve }
cut-title = Power cuts
cut-of = Power cut: { $point }
cut-happened = The power failed at { $at } s and came back; the database accepted connections after { $recovery } s.
cut-not-recovered = The power failed at { $at } s and came back; the database did not recover.
cut-writes = Lost with the power: { $writes } acknowledged writes ({ $mb } MB) that had not been flushed.
cut-lied = { $flushed } of them had been flushed: the drive acknowledged flushes that it did not perform.
cut-kept = No acknowledged transaction was lost: { $acknowledged } checked, all found.
cut-lost = LOST: { $lost } of { $acknowledged } acknowledged { $txn }, first: { $first }.
cut-not-evaluated = Not evaluated: no acknowledged transaction could be checked.
compare-heading = { $step }: media compared with { $first }
compare-note = Ratios are relative to { $first } at the same load, with the 95 % interval of the ratio of two means. Invalid points have no ratio.
load-one = 1 user
load-closed = { $users } users
load-open = { $rate }/s offered
wait-cpu = CPU
wait-data-read = data read
wait-data-write = data write
wait-log = log
wait-lock = lock
wait-latch = latch
wait-client = client
wait-idle = idle
wait-other = other
wait-does-cpu = was spent running on a CPU, or waiting for one
wait-does-data-read = was spent waiting for data to be read
wait-does-data-write = was spent waiting for data to be written
wait-does-log = was spent waiting for the log
wait-does-lock = was spent waiting for locks of transactions
wait-does-latch = was spent waiting for the server's own short locks
wait-does-client = was spent in a transaction, waiting for the client's next statement
wait-does-idle = was spent idle
wait-does-other = was spent waiting for something else
waits-sentence = At { $load } { $percent } % of session time { $what }; standard error { $error } %, { $samples } samples.
waits-rough = Few samples: waits of a few percent may be missing.
consistency-none = Consistency conditions: none verified.
consistency-holds = Consistency conditions: { $verified } verified, all hold.
consistency-fails = Consistency conditions: { $verified } verified; failed: { $failed }.

ladder-repeats = Rates and latencies are medians of the repeats.
steady-yes = yes
steady-no = no
steady-too-short = too short
steady-too-few = too few
steady-not-meant = rising
precondition = Before the first point of { $step } on { $system }, load ran for { $lasted } s with { $load }. Transactions per second in the first tenth of that time: { $first }, in the last: { $last } ({ $change } %).
reset = Between points of { $step } on { $system } the data set was reset { $times } times ({ $method }): at most { $longest } s each, from up to { $largest } MB to { $last } MB. Compared: { $verified }.
precondition-cut = It ended early.

## Load lines

outcome-met = met
outcome-mixed = by some
outcome-failed = not met
line-text = The load line: { $value } { $unit } with { $objective } ({ $heading })
line-unit-open = transactions/s offered
line-unit-closed = users
line-objective = { $figure } response ≤ { $limit } ms, { $of }
line-between = Between { $low }, which every repeat met, and { $high }, which none did.
line-from = At { $low } or above: no load was clearly too high.
line-above-most = At { $most } or above: the objective is met at the highest load allowed.
line-below = Below { $high }: no load met the objective in every repeat.
line-unknown = Unknown: no load clearly met the objective, and none clearly missed it.
line-effort = Loads tried: { $loads }; repeats of each: { $repeats }; wanted precision: { $precision } %.
line-open = The search was not completed.
line-too-many = It stopped before it reached that precision.
line-below-least = It stopped at the lowest load allowed.
line-rate-nopm = At the line: { $nopm } NOPM ({ $each } new orders/s), p99 of { $txn } { $p99 } ms.
line-rate = At the line: { $rate } transactions/s, p99 of { $txn } { $p99 } ms.
shortfall-nothing-measured = nothing measured
shortfall-incomplete = ended early
shortfall-slow = too slow
shortfall-failed = { $percent } % failed
shortfall-dropped = { $intents } dropped
shortfall-behind = { $percent } % not settled
shortfall-unsteady = unsteady ({ $range } % range, { $slope } % slope)
bottleneck-title = Bottleneck at the lowest load above the line (at the line → above it):
bottleneck-unknown = Unknown: no monitored figure stood out.
bottleneck-nothing-above = None: no load above the line was tried.
bottleneck-generator = plimsoll itself: { $change } % of the CPU that it can use. The line is not the system's: use a faster machine for the load.
bottleneck-cpu = CPU of the machine: { $change } % busy (stands out from { $limit } % on).
bottleneck-device-busy = The device: busy { $change } % of the time (stands out from { $limit } % on).
bottleneck-device-write-time = Writes on the device: { $change } ms each (stands out from { $limit } times on).
bottleneck-device-read-time = Reads on the device: { $change } ms each (stands out from { $limit } times on).
bottleneck-drive-queue = The emulated drive: { $change } requests at a time (stands out from { $limit } times on).
bottleneck-locks = Locks: { $change } % of the active sessions wait for them (stands out from { $limit } % on).
bottleneck-log = The log: { $change } % of the active sessions wait for it (stands out from { $limit } % on).
bottleneck-connections = Connections: transactions waited for a free one for { $change } % of their response time (stands out from { $limit } % on).

## Table on the terminal

text-no-points = No load point was measured.
text-offered = offered /s
text-users = users
text-nopm = NOPM
text-interval = ±%
text-tpm = TPM
text-tpm-user = TPM /user
text-rate = txn/s
text-p50 = p50 ms
text-p95 = p95 ms
text-p99 = p99 ms
text-failed = failed
text-dropped = dropped
text-away = away s
text-retries = retries
text-cpu = CPU %
text-write = write MB/s
text-write-ms = ms /write
text-verdict = verdict
text-steady = steady
text-repeats = n
text-interval-of = 95%
text-spread = min-max
text-load = load
text-outcome = objective
text-objective = figure, ms
text-why = shortfall
text-medium = medium
text-ratio = ratio
text-ratio-interval = ratio 95%
text-p99-ratio = p99 ratio

text-sessions = sessions
text-samples = samples
text-db-commits = commits /s
text-buffer-hit = buffer hit %
text-log-mb = log MB/s
text-log-txn = log kB/txn
text-syncs-txn = log syncs/txn
text-size = data MB
text-block-note = IOPS and MB/s are of reads, writes and trims, latencies are µs from submission to completion.
text-job = job
text-in-flight = in flight
text-iops = IOPS
text-block-mb = MB/s
text-mean-us = mean µs
text-p50-us = p50 µs
text-p95-us = p95 µs
text-p99-us = p99 µs
text-p999-us = p99.9 µs
text-max-us = max µs
text-mean-ratio = mean ratio
text-offered-share = offered %
text-writers = writers
text-durable = durable by
text-durable-writes = writes /s
text-flushes-s = flushes /s
text-workers = workers
text-sum-iops = IOPS
text-sum-mb = MB/s
text-lowest = lowest IOPS
text-highest = highest IOPS
text-cv = CV %
text-p99-lowest = lowest p99 µs
text-p99-highest = highest p99 µs
text-window = rounds
text-mean-iops = mean IOPS
text-range-percent = range %
text-slope-percent = slope %
text-by-round = { $job }, IOPS by round:
waits-heading = Session time by wait state, in %:
counters-heading = Database counters:

## Findings

finding-run-ended = Run { $status }{ $reason ->
    [none] .
   *[other] : { $reason }
 }
finding-nothing-measured = Nothing was measured.
finding-nothing-completed = No transaction completed on { $system } in the { $measured-s } s measured: there are no response times, and the rate is only known to be low. Measure for longer.
finding-phase-incomplete = The { $phase } phase ended early, after { $lasted-s } s.
finding-coarse-window = Percentiles are rebuilt from per-second histograms, because the phase was never closed: up to 3.2 % off.
finding-seconds-missing = { $missing-s } s of the window have no record. Rates count only what was recorded.
finding-short-window = { $measured-s } s are too short to evaluate whether the rate was steady: five seconds are needed.
finding-counts-broken = Counts do not add up at { $at-s } s: { $offered } offered, { $settled } settled, but { $in-flight } in flight.
finding-not-drained = Still in flight when the record ends: { $in-flight }.
finding-histogram-disagrees = { $txn }: { $completed } transactions completed, but the histogram holds { $histogram }.
finding-histogram-sample = Latencies come from a random sample: { $histogram } of { $completed } transactions ({ $percent } %).
finding-clipped = { $txn }: { $values } latencies were longer than an hour and counted as one.
finding-unsteady = Not steady: the rates of the window's five parts differ by { $range-percent } % of their mean (limit 20 %), and go { $slope-percent } % up or down along the line through them (limit 10 %).
finding-backlog-grew = The backlog grew by { $intents } ({ $percent } % of the offered transactions): the system does not sustain this rate.
finding-server-away = The server was unavailable for { $away-s } s of the window, { $percent } % of it (limit { $limit-percent } %): rates and response times include that time. Measure again with a server that stays up.
finding-not-served = { $failed } failed and { $dropped } dropped: { $percent } % of the offered transactions.
finding-condition-fails = Consistency condition { $clause } does not hold on { $subject }: { $detail }
finding-not-verified = No consistency condition was verified.
finding-emulated = EMULATED: the emulator of { $drive } fell behind, which adds { $added-percent } % to the time of its operations; from 5 % on the figures are not that drive's. Half of { $ops } { $op } operations were at least { $late-p50-us } µs late, { $late-percent } % of the modelled { $modelled-p50-us } µs (limit 10 %), and { $beyond-percent } % took longer than the next modelled percentile (limit 1 %). Use fewer users, a slowed drive (slower = 20 in its medium), or a machine that does nothing else.
finding-emulation-waited = EMULATED: requests on { $drive } queued in the kernel. In a second they were in flight for { $kernel-ms } ms together by the kernel's count, and for { $emulator-ms } ms by the emulator's; that adds { $added-percent } % to their modelled time (doubtful from 25 %, invalid from 200 %). Use fewer users, or a machine with more idle cores.
finding-drive-errors = EMULATED: { $drive } failed { $errors } { $op } operations although it had power. Check the events; a full backing store needs a smaller data set, more memory or backing = "file".
finding-emulation-unreported = EMULATED not evaluated: the emulator of { $drive } reported nothing for { $missing-s } of { $measured-s } s. Do not take these figures for that drive's.
finding-emulation-too-few = EMULATED not evaluated: { $drive } received { $ops } operations, fewer than { $fewest } of each kind.
finding-committed-lost = DURABILITY: { $lost } of { $acknowledged } acknowledged { $txn } are not in the database after the power cut. First: { $first-lost }. Check fsync, synchronous_commit and the drive's flush.
finding-not-recovered = DURABILITY: the database did not recover after the power cut. The events have the reason.
finding-cut-unjudged = DURABILITY not evaluated: no acknowledged transaction could be checked after the power cut.
finding-commits-disagree = The database counted { $database } commits/s and the clients { $clients }: { $percent } % off (limit 2 %, plus one commit/s of the server's own, the commits of session setup, and one second at both ends). Another client uses the database, or transactions are counted wrongly.
finding-rate-not-reached = { $offered } requests/s were offered and { $achieved } completed, { $percent } % fewer (limit 1 %, plus the scatter of independent arrivals): the medium, or fio's machine, does not sustain this rate.
finding-in-flight-off = By Little's law (rate × mean latency) { $found } requests were in flight on average; the job asks for { $asked } (limit 10 % off). Fewer mean that fio or its CPU, not the medium alone, limits these figures; more mean that counts and times are from different windows.
finding-workers-apart = Workers with the same job on { $medium } differ: { $lowest } to { $highest } IOPS, coefficient of variation { $cv-percent } % (limit 10 %, plus chance). The sum holds; single workers get less than their share.
finding-workers-disagree = { $op }: the workers report { $workers } requests, their seconds { $counted }.
finding-steady-not-reached = STEADY STATE NOT REACHED in { $rounds } rounds: the medium was still changing, or scatters too much. Figures are those of the last { $window } rounds at most. Run more rounds, or precondition for longer.
finding-never-written = The test space was written { $fill } times from end to end before: reads of blocks that were never written return without access to data. Use fill = 1 or more.
finding-backup-failed = { $kind ->
    [backup] Backups
   *[other] Restores
 } that failed: { $failed } of { $of }, the first in cycle { $cycle }: { $detail }
finding-restore-differs = Restored data differ from the saved data: { $differs } of { $of }, the first in cycle { $cycle }: { $detail }
finding-backup-cancelled = { $kind ->
    [backup] Backups
   *[other] Restores
 } that ended early, by the user or with the concurrent load: { $cancelled } of { $of }. They have no figures.
finding-rate-disagrees = RATE: the stated size of backups and the growth of their files differ by more than 5 % in { $times } of them. Worst: cycle { $cycle } of { $system }, { $stated-mb } MB stated, { $observed-mb } MB observed ({ $percent } %).
finding-rate-not-judged = RATE not evaluated for { $times } of { $of } backups: the growth of their files is known for less than 90 % of their time.
finding-effect-unpaired = { $left-out } of { $of } repeats are left out: they are invalid, or were not measured both with and without noise on the same systems.
finding-imported = Imported from { $source }, which does not report everything. Not evaluated: { $unknown }.
finding-whole-only = The source reports only the whole { $measured-s } s: there is no interval, and steadiness is not evaluated.
finding-only-reported = There are only figures that { $source } printed: nothing is computed from them.
finding-event = { $event } ({ $times }×, first at { $at-s } s): { $text }

## Audit

audit-title = Audit
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
audit-places = { $n } cases, first: { $place }
audit-pair = { $first } against { $second }
audit-see-above = see the finding above.
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
evidence-conserved = Counts add up in each of { $seconds } seconds.
evidence-counted = { $offered } offered, { $settled } settled.
evidence-held = The rates of the window's five parts differ by { $range-percent } % of their mean (limit { $range-limit-percent } %), and go { $slope-percent } % up or down along the line through them (limit { $slope-limit-percent } %).
evidence-response-times = Mean response times of the window's five parts differ by { $range-percent } % of their mean (limit { $range-limit-percent } %), and go { $slope-percent } % up or down along the line through them (limit { $slope-limit-percent } %).
evidence-window = { $measured-s } s were measured; at least { $fewest-s } s are needed.
evidence-response-interval = Half the 95 % interval is { $percent } % of the mean response time (limit { $limit-percent } %).
evidence-halves = The second half of the window is { $off-percent } % off the first (limit { $limit-percent } %).
evidence-interval = Half the 95 % interval is { $percent } % of the rate, measured for { $measured-s } s (limit { $limit-percent } %).
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
evidence-device-reads = { $per-transaction } reads of the device for each transaction ({ $fewest } are needed).
evidence-generator-busy = The load generator used { $percent } % of a core (limit { $limit-percent } %).
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
evidence-governor = Governor of the processors: { $governor }.
evidence-calibration = The calibration after the run was { $off-percent } % off the one before (limit { $limit-percent } %).
evidence-other-io = { $percent } % of the device's I/O was not the system's (limit { $limit-percent } %).
evidence-unlike = The workloads differ: { $differs }.
evidence-factors = { $differs ->
    [none] Nothing that is known differs except { $factor ->
        [none] an unnamed factor
       *[other] { $factor }
     }.
   *[other] Besides { $factor ->
        [none] one factor
       *[other] { $factor }
     } this differs: { $differs }.
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
evidence-diagnosed = The doctor on { $of ->
    [none] the machine
   *[other] { $of }
 }, { $code }: { $found }

missing-nothing-measured = nothing was measured
missing-plan-unreadable = the plan in the run file cannot be read
missing-not-for-this-load = this kind of load has no such figure
missing-too-few = there are too few to evaluate
missing-too-short-for-longest = the window is too short for its longest transaction, which may have begun before it or ended after it
missing-too-short = the window is too short, or its rates were meant to change
missing-no-in-flight = rate, mean latency or number in flight is missing
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
missing-no-lag = a late start cannot be distinguished from waiting for a free connection
missing-no-place = the location of the load generator is missing
missing-no-method = it is not stated how latencies were computed
missing-no-settings = durability settings are missing
missing-no-flushes = there are no counts and times of flushes
missing-no-medium = the medium's best possible figures are not known
missing-no-maintenance = there is no record of checkpoints, vacuum and backups
missing-no-sampling = no blocks were sampled, and it is not stated how they were filled
missing-no-host = the machine was not monitored
missing-no-governor = the governor of the processors is not known
missing-no-calibration = there is no calibration before and after
missing-one-side = there is only one side
missing-no-configuration = the configuration of a side is missing
missing-no-noise = noise is not what is compared, or is not stated
missing-no-tpm = TPM or NOPM is missing
missing-no-backup = there is no backup or restore
missing-no-bytes = bandwidth, time or bytes are missing
missing-no-sentence = the claim has no sentences
missing-no-figures = the figures that the sentence refers to are missing
missing-not-verified = no consistency condition was verified
missing-no-emulation = no drive is emulated
missing-emulation-unreported = the emulator did not report on the whole window
missing-no-repeats = the number of runs is not stated
missing-by-construction = MB/s of a restore are computed from its bytes and time, so they always agree
missing-past-the-cache = requests went past the page cache
missing-no-run-file = the figures are in no run file
missing-file-open = the run file was never closed, so that it has no digest
missing-file-older = this plimsoll version stored no digest in its run files
missing-nothing-to-lose = no acknowledged transaction could be checked
missing-one-figure = no two figures are stated that depend on each other
missing-no-duration = no time is stated together with its parts

next-ask-for-window = Ask for the raw data: rate, latency and number in flight cannot all be of one window.
next-distrust-counts = Do not use these figures; find out which outcomes were not counted.
next-measure-longer = Measure for longer.
next-measure-longer-or-repeat = Measure for five minutes or longer, or repeat the load three times (repeat = 3).
next-warm-up-longer = Warm up for longer, or find what changes over time.
next-grow-data = Make the data larger than memory, or limit memory; only then call it a storage test.
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
next-slower-drive-or-less = Use fewer users, a slowed drive (slower = 20 in its medium), or a machine that does nothing else.
next-restore-file = Take the run file from a backup, or measure again.
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
rule-repeat = Each side was measured several times, and differs from the other by more than from itself.
rule-plausible = Figures of a load can all be true at once: percentiles rise, the mean lies where they leave room for it, NOPM is no more than TPM, MB/s are rate × size of requests, the lowest of several is not above the highest, and no rate is a hundred times that of the rows beside it in a ladder.
rule-duration = A time is the sum of its parts. A missing part was not described.
rule-intact = The run file is as it was when its run ended: its content matches the digest stored then. Otherwise its figures may have been changed.

## Report: headline

report-generated-by = plimsoll
report-run = Run
report-started = Started
report-lasted = Lasted
report-status = Status
report-started-unknown = not known
report-seed = Seed
report-version = plimsoll
headline-kicker = Highest rate
headline-nopm = new orders per minute
headline-rate = transactions per second
headline-interval = 95 % interval { $low } to { $high }
headline-no-interval = too short for an interval
headline-none = No usable figure
headline-none-why = This record has no usable figure. The findings below have the reasons.
headline-where = Reached with { $point } in { $measured } s of measurement.
headline-tpm = TPM, all five types
headline-per-user = TPM per user
headline-p99 = p99 response, { $txn }
headline-cpu = host CPU busy
headline-write = written to { $device }

headline-spread = repeats from { $low } to { $high }
headline-median = Median of { $repeats } repeats; beside it the figures of { $point } in { $measured } s of measurement.
line-kicker = The load line
line-title = Load line search
line-note = The objective's figure against the load. The dashed line is the limit. Filled circles: every repeat met the objective; hollow diamonds: some did; crosses: none did. Bars go from the lowest repeat to the highest. Arrows at the upper edge are beyond the chart; the table has their figures.
line-chart = { $step }: response time against load
column-load = Load
column-outcome = Objective
column-objective = Figure of each repeat, ms
column-why = Shortfall
precondition-title = Preconditioning and resets

## Report: trust

trust-title = Can the numbers be trusted?
trust-sound = No issues found.
trust-doubtful = Read these warnings before using them.
trust-invalid = Some results are invalid.
trust-conserved = Counts add up: offered = committed + rolled back + failed + dropped + in flight in each of { $seconds } seconds, at { $holds } of { $points } points to the end.
trust-conserved-broken = Counts do not add up at { $broken } points: see below.
trust-conserved-imported = Conservation is not evaluated: the run was measured by another tool, which does not report what was in flight.
trust-conserved-none = Conservation could not be verified: no second was recorded.
trust-findings = Findings

## Report: ladder

ladder-title = Load ladder
ladder-caption = The highest rate is marked. ± is half the 95 % interval: one window below 300 s is too short for it, and so are two repeats.
column-users = Users
column-offered = Offered, 1/s
column-nopm = NOPM
column-interval = ± %
column-tpm = TPM
column-tpm-user = TPM per user
column-rate = Transactions/s
column-p50 = p50, ms
column-p95 = p95, ms
column-p99 = p99, ms
column-failed = Failed
column-dropped = Dropped
column-away = No server, s
column-retries = Retries
column-rolled-back = Rolled back, %
column-round-trips = Round trips / txn
column-measured = Measured, s
column-steady = Steady
column-repeats = Repeats
column-interval-of = 95 %
column-spread = Min to max
column-verdict = Verdict
ladder-latency-of = Latencies are response times of { $txn }.

## Report: charts

charts-none = Charts need JavaScript. Every figure is in the tables.
throughput-title = Throughput
throughput-note = Bars span the middle half of all single seconds (25 % to 75 %). Hollow marks are invalid points.
chart-title-nopm = New orders per minute (NOPM)
chart-title-tpm = Transactions per minute (TPM), all types
chart-title-tpm-per-user = TPM per user
chart-title-rate = Transactions per second
axis-users = Closed loop: against users
axis-offered = Open loop: against the offered rate
latency-title = Latency by transaction type
latency-note = Response time from due time to end. Solid p50, dashed p95, dotted p99.
time-title = Over time
time-note = Grey stretches are not measured; the top chart is the load: users, the offered rate, or the job. Upright lines are events. Gaps are seconds without a record; nothing is interpolated. Long preparation is hidden at first. Drag to zoom in, double-click to reset. The scale is that of response times and times per request.
chart-title-throughput = Throughput per second
chart-title-latency-time = Response time per second
chart-title-in-flight = Transactions in flight
chart-title-cpu = CPU of the machine, by state
chart-title-iops = Device: requests
chart-title-bandwidth = Device: bandwidth
chart-title-io-time = Device: time per request
chart-title-queue = Device: requests in flight
chart-title-cpu-one = CPU by process
chart-title-memory = Memory by process

chart-users = users
chart-offered = offered, 1/s
chart-time-s = s since start
chart-time-min = min since start
chart-time-h = h since start
chart-nopm = NOPM
chart-tpm = TPM
chart-tpm-per-user = TPM per user
chart-rate = transactions/s
chart-latency = ms
chart-spread = middle half of seconds
chart-throughput = transactions/s
chart-all = all types
chart-cpu = % of all CPUs
chart-cpu-one = % of one CPU
chart-cpu-user = user
chart-cpu-system = system
chart-cpu-iowait = I/O wait
chart-cpu-steal = steal
chart-iops = requests/s
chart-bandwidth = MB/s
chart-io-time = ms per request
chart-queue = requests
chart-memory = MB
chart-reads = read
chart-writes = write
chart-flushes = flush
chart-in-flight = transactions
chart-linear = linear
chart-log = logarithmic
chart-no-data = Nothing was recorded for this chart.

## Report: tables behind the charts

detail-title = Latency of every type
detail-note = Milliseconds. A percentile in grey has less than one transaction beyond it: it is the maximum.
column-type = Type
column-count = Completed
column-share = Share, %
column-mean = Mean
column-max = Max
detail-response = response
detail-service = service
resource-embedded = The system runs inside plimsoll: the CPU of the generator is mostly the system's, so none is given per transaction.
resource-title = Means over the window
column-cpu-busy = CPU busy, %
column-cpu-iowait = I/O wait, %
column-device = Device
column-reads = Reads/s
column-writes = Writes/s
column-read-mb = Read MB/s
column-write-mb = Write MB/s
column-read-ms = ms per read
column-write-ms = ms per write
column-queue = In flight
column-system-cpu = System CPU, % of one
column-system-memory = System memory, MB
column-generator-cpu = Generator CPU, % of one
column-generator-us = Generator CPU, µs per transaction

column-db-commits = Commits/s, counted by the database
column-buffer-hit = Buffer hits, %
column-log-mb = Log MB/s
column-log-txn = Log kB per txn
column-syncs-txn = Log syncs per txn
column-checkpoints = Checkpoints per minute
column-size = Data, MB
column-growth = Growth, MB

## Report: waits

waits-title = Session wait states
waits-note = Each bar is the time of all sessions at this load by wait state, in %, always in this order. Sessions are sampled ten times a second; a sample finds each session in one state, as the server names it. Shares of less than two standard errors may be chance.
waits-table = All shares, with the server's event names
column-state = State
column-sessions = Sessions, mean
column-error = Standard error, %
column-busy-share = Share without idle and client, %
column-waits-for = Waits for (share of session time)

## Report: emulated drives, power cuts, comparison

compare-title = Media compared
drive-title = Emulated drives
drive-note = The drive's model, the times on this machine, and the times of the same requests in the machine's kernel (block devices only). A drive keeps up while half of the operations of each kind are at most 10 % of the modelled time late and at most 1 % take longer than the next modelled percentile. Kinds that do not keep up make the figures invalid if their lateness adds 5 % or more to the time of all operations, and doubtful if less.
drive-kept-up-yes = yes
drive-kept-up-no = no
drive-kept-up-unknown = too few
column-medium = Medium
column-op = Operation
column-rate-s = 1/s
column-mb-s = MB/s
column-modelled-mean = Model mean, ms
column-modelled-p50 = Model p50, ms
column-modelled-p99 = Model p99, ms
column-real-mean = Real mean, ms
column-real-p50 = Real p50, ms
column-real-p99 = Real p99, ms
column-host-mean = Kernel mean, ms
column-late-p99 = Late p99, µs
column-late-percent = Late p50, %
column-beyond = Beyond, %
column-added = Adds, %
column-errors = Errors
column-emulator-cpu = Emulator CPU, % of one
column-kept-up = Keeps up
column-ratio = Ratio
column-ratio-interval = Ratio, 95 %
column-p99-ratio = p99 ratio
column-txn = Transaction
column-acknowledged = Acknowledged
column-lost = Lost
column-in-doubt = In doubt
column-first-lost = First lost
chart-title-lateness = Emulated drives: lateness, 99th percentile of each second
chart-lateness = µs late
chart-line-limit = limit
chart-line-ms = ms
chart-met = met by every repeat
chart-mixed = met by some repeats
chart-failed = met by none
chart-figure = median of the repeats
chart-emulator = emulator of
op-read = read
op-write = write
op-flush = flush
op-trim = trim

## Report: block I/O and the doctor

level-ok = ok
level-unknown = unknown
level-warning = warning
level-error = error
doctor-title = Doctor: checks before the load
doctor-sentence = Errors: { $errors }; warnings: { $warnings }; not evaluated: { $unknown }; passed: { $ok }.
doctor-fine = Checks passed
column-level = Level
column-check = What
column-found = Found
column-next = What to do
headline-backup-kicker = Backup and restore
headline-backup-unit = s for one { $what }
headline-backup-where = Mean of { $n } on { $medium }.
headline-backup-beside = one { $what } on { $medium }
headline-block-kicker = Highest IOPS
headline-block-where = Reached by { $job } on { $medium } in { $measured } s of measurement.
headline-block-median = Median of { $rounds } rounds of { $job } on { $medium }, { $measured } s of measurement each.
headline-block-mean = mean latency there
headline-block-p99 = p99 latency there
headline-block-mb = most MB/s: { $job }, { $medium }
headline-block-lowest = lowest mean latency: { $job }, { $medium }
block-heading = Block I/O: { $step } ({ $workload })
block-profile = Profile { $profile }.
block-on = Medium: { $medium }.
block-worker = One worker with { $size } of its own.
block-workers = { $workers } workers, each with { $size } of its own.
block-jobs-title = Jobs
block-jobs-note = IOPS and MB/s of reads, writes and trims together, over all workers. Latency in µs from submission to completion. ± is half the 95 % interval of IOPS; one window below 300 s is too short for it.
block-rounds-note = IOPS, MB/s, mean and p99 of a job are medians of the rounds; its other latencies and its kinds of requests are those of the round nearest to the median.
block-ratio-note = Ratios are relative to { $first }, with their 95 % interval. Invalid points have no ratio.
block-latency-title = Latency
block-all = all
block-none = Nothing was measured.
block-full = full
block-bars-title = IOPS and MB/s by job
block-bars-note = Bars begin at zero; whiskers are 95 % intervals. Hollow bars are invalid.
block-by-job = { $unit } by job
block-by-size = { $unit } by request size: { $pattern }, { $depth }
block-by-depth = { $unit } by depth: { $pattern } of { $size }
block-random = random
block-sequential = sequential
block-partly-random = { $percent } % random
block-reads = { $order } reads
block-writes = { $order } writes
block-mix = { $order } requests, { $percent } % reads,
block-curve-title = Latency against throughput
block-curve-note = Scales are logarithmic where media or latencies are more than a decade apart. Each job first ran at full speed (large rimmed mark), then at shares of the rate it reached. Solid: mean; dashed: p99. Hollow marks are invalid.
block-curve-table = Every rate
block-fsync-title = Durable writes by number of writers
block-fsync-note = Writers are threads over all workers. The latency is of what a writer waits for until its data is durable: of the flush, or with O_DSYNC of the write itself. µs.
block-sync-none = not asked for
block-sync-each-write = O_DSYNC
block-sync-flush-each = fdatasync, each write
block-sync-flush = fdatasync, every { $every } writes
block-direct = O_DIRECT
block-cached = page cache
block-sizes = read { $reads }; write { $writes }
block-rounds-title = Rounds until steady
block-rounds-rule = Steady when over the last { $window } rounds the IOPS of every job range over at most { $range } % of their mean and their least-squares line rises or falls by at most { $slope } % of it; given up after { $most } rounds (SNIA PTS 2.0.2 has 5, 20 %, 10 % and 25). Shaded: the last window; solid: the line through it; dotted: half the range allowed below and above the mean.
block-rounds-chart = { $title }: steady
block-rounds-chart-not = { $title }: not steady
block-steady = { $medium }: steady with round { $last }. Figures are those of rounds { $first } to { $last }.
block-not-steady = { $medium }: STEADY STATE NOT REACHED after { $rounds } rounds (at most { $most }).
block-workers-title = Workers
block-workers-note = The sum over all workers, and how far they are apart. CV: standard deviation in % of the mean.
block-workers-each = Each worker
block-time-title = Per second
block-time-note = Seconds of a job, media above each other, rounds and rates one after the other. Grey stretches are warm-up and are not measured. Latency of requests that ended in each second: the line is p50, the bands reach to p95 and p99, dots mark the longest. The scale is that of IOPS and MB/s.
block-ops-title = By kind of request
block-ops-note = Beside all: the mean number in flight by Little's law (rate × mean latency, flushes included), and how many the job keeps in flight at most.
block-asked-title = Job settings, per worker
column-job = Job
column-drive = Drive
column-rounds = Rounds
column-iops = IOPS
column-block-mb = MB/s
column-mean-us = Mean, µs
column-p50-us = p50, µs
column-p95-us = p95, µs
column-p99-us = p99, µs
column-p999-us = p99.9, µs
column-max-us = Max, µs
column-mean-ratio = Mean latency ratio
column-requests = Requests
column-in-flight = In flight (Little / asked)
column-stream = Stream
column-reads-percent = Reads, %
column-random-percent = Random, %
column-size-of = Request size
column-depth = Depth × threads
column-per-second = Rate, 1/s
column-access = Places
column-compressible = Compressible, %
column-cache = Through
column-durable = Durable by
column-writers = Writers
column-durable-writes = Writes/s
column-flushes-s = Flushes/s
column-workers = Workers
column-sum-iops = IOPS, all
column-sum-mb = MB/s, all
column-lowest = Lowest IOPS
column-highest = Highest IOPS
column-cv = CV, %
column-p99-lowest = Lowest p99, µs
column-p99-highest = Highest p99, µs
column-worker = Worker
column-offered-share = Offered, % of full
column-window = Window
column-mean-iops = Mean IOPS
column-range-percent = Range, % of mean
column-slope-percent = Slope, % of mean
chart-title-block-iops-time = IOPS
chart-title-block-mb-time = MB/s
chart-title-block-latency-time = Latency
chart-block-iops = IOPS
chart-block-mb = MB/s
chart-block-us = µs
chart-block-mean = mean
chart-block-p99 = p99
chart-block-full = full speed
chart-block-offered = offered, of full speed
chart-block-job-time = s of this job
chart-block-job-time-min = min of this job
chart-block-round = round
chart-block-fit = line through the window
chart-block-limits = half the range below and above the mean
chart-block-max = longest
chart-block-invalid = invalid
how-iops = IOPS, MB/s
how-iops-text = Reads, writes and trims that ended in the measure phase / measured time, summed over all workers; MB are 10⁶ bytes. Flushes are counted apart.
how-block-latency = Latency of block I/O
how-block-latency-text = From submission to completion, as fio records it; histograms of all workers are merged before anything is read from them.
how-curve = Curve
how-curve-text = The rate that the job reached at full speed is 100 %. Each lower rate is offered at its own pace; the axis has the achieved rate, not the offered one.
how-rounds = Rounds
how-rounds-text = All jobs once. Steady by SNIA PTS 2.0.2: over the window the range of a job's IOPS and the change along its least-squares line stay within their limits, for every job. A figure over rounds is the median of those that count, with the 95 % interval (Student's t, from three rounds on).

## Report: the rest

events-title = Events
column-at = At, s
column-subject = Subject
column-severity = Severity
column-event = Event
column-text = Message
environment-title = Environment
environment-none = Nothing is recorded about the environment.
settings-title = Database settings
settings-none = No settings are recorded.
plan-title = Plan, as written
again-title = Command
how-title = How the numbers are computed
how-more = docs/method.md has the reasons and the sources.
how-nopm = NOPM
how-nopm-text = Committed New-Orders × 60 / measured time. Only the measure phase enters.
how-tpm = TPM
how-tpm-text = Business transactions of all five types that completed (committed, or rolled back as the specification wants) × 60 / measured time.
how-time = Measured time
how-time-text = Sum of the recorded ticks of the measure phase, not the planned time.
how-response = Response time
how-response-text = From the time a transaction was due to its end. In a closed loop it is due when it starts; in an open loop the wait before the start counts (service time leaves it out).
how-percentile = Percentiles
how-percentile-text = Taken from merged histograms (three significant digits), never averaged. Failures are counted, and are not in them.
how-interval = Interval
how-interval-text = 95 %. Of one window: from its slowest movements, by Student's t with one degree of freedom for each 150 s. A window below 300 s is too short for an interval. Of three repeats or more: by Student's t.
how-repeats = Repeats
how-repeats-text = A load that was measured several times is shown with the median, the 95 % interval (Student's t, from three repeats on) and the lowest and highest. Failures are counted over all repeats; latencies by type and means of resources are those of the repeat nearest to the median.
how-steady = Steady
how-steady-text = The window is cut into five parts. It is steady when their rates differ by at most 20 % of their mean and the least-squares line through them changes by at most 10 % of it (SNIA PTS 2.0.2); a point that is not is doubtful. Where so few transactions scatter as much by chance, the table has "too few" instead.
how-line = Load line
how-line-text = The highest load that meets the objective in every repeat: the figure of response time up to the limit, at most 1 % failed, and in an open loop nothing dropped and at least 99 % settled, in a steady window. Loads double from the start until none of the repeats meets it, then the gap is halved in ratios. Loads that only some repeats meet lie within the interval.
how-resource = CPU, memory, device
how-resource-text = Means over the measure phase, weighted by time; time per request is weighted by requests.
how-waits = Waits
how-waits-text = Sessions found in a state / all sessions found, over all samples of the measure phase. The standard error takes seconds as clusters, since neighbouring samples are not independent.
footer = plimsoll { $version } ({ $commit }), run { $run }

## Sets of runs

set-heading = { $title }: { $runs } of { $of } runs
set-group = { $step }: { $system }
set-runs-of = { $runs } of { $of }
set-crossovers = How much memory is enough
set-empty = No run of this set is complete.
set-chart = { $figure } by { $axis }
set-chart-at = { $chart }, load { $load }
set-at-load = load { $load }
set-chart-note = Medians of the runs. A bar is the 95 % interval of the mean, or the range of the runs where there is none.
set-chart-hollow = Hollow: invalid, not to be quoted.
set-reads-long = Reads of the device for each transaction
set-how = Each run has a report of its own: plimsoll report FILE. How figures are computed: docs/method.md.
set-load = load
set-rate = txn /s
set-reads = reads /txn
set-runs = runs
set-crossed = Rate at load { $load }, by both axes

## Several systems at once

fleet-heading = Each of the { $n } systems, { $rate }
fleet-users = users each
fleet-mean = mean
fleet-lowest = lowest
fleet-highest = highest
fleet-cv = CV %

## Backups, noise, shared media

shared-heading = { $step }: { $about }
shared-noise = with and without noisy neighbours
shared-backups = backup and restore
shared-systems = several systems on one medium
shared-time-title = Per second
shared-time-note = All I/O on the medium, as a datastore would show it. Points follow one after the other, without the time between them; grey is not measured. Dashed lines are reads, solid ones writes.
shared-bands-note = Shaded bands are backups (B) and restores (R), with their cycle.
shared-quiet = quiet
shared-noisy = noisy
shared-measured = measured systems together
shared-neighbours = neighbours together
shared-reads = { $medium } read
shared-writes = { $medium } write
shared-grown = growth of backup files
shared-band-backup = B{ $cycle }
shared-band-restore = R{ $cycle }
shared-band = { $what } { $cycle } of { $system }: { $outcome }
chart-title-shared-rate = Transactions per second
chart-title-shared-iops = Requests per second
chart-title-shared-mb = Bandwidth per second
chart-title-shared-ms = Time per request, per second
chart-shared-rate = transactions/s
chart-shared-iops = requests/s
chart-shared-mb = MB/s
chart-shared-ms = ms per request
chart-shared-time = s, points one after the other
chart-shared-time-min = min, points one after the other

backup-heading = { $step }: backup and restore, { $method }
backup-heading-beside = { $step }: backups beside { $load } on each system, { $method }
backup-physical = physical
backup-logical = logical
backup-kind-backup = backup
backup-kind-restore = restore
backup-outcome-complete = complete
backup-outcome-cancelled = ended early
backup-outcome-failed = failed
backup-outcome-differs = differs
backup-note = Means of the completed operations; their 95 % intervals and those of ratios rest on the cycles. Ratios of times are relative to the first medium.
backup-io-title = I/O of the media meanwhile
backup-io-note = All I/O on the medium while such operations ran; times per request are weighted by requests.
backup-operations = Every operation
backup-detail = { $system }, { $what } { $cycle }: { $detail }
backup-rate-agrees = { $percent } %
backup-rate-disagrees = { $percent } % off
backup-rate-restore = not evaluated: restore
backup-rate-not-sampled = not evaluated: no growth data
medium-source-emulator = emulator
backup-column-data = data on
backup-column-target = backup on
backup-column-what = what
backup-column-on = medium
backup-column-source = source
backup-column-n = n
backup-column-seconds = seconds
backup-column-interval = 95%
backup-column-spread = min-max
backup-column-ratio = ratio
backup-column-ratio-interval = ratio 95%
backup-column-rate = MB/s
backup-column-gb = GB moved
backup-column-failed = not complete
backup-column-reads = reads /s
backup-column-writes = writes /s
backup-column-read-mb = read MB/s
backup-column-write-mb = write MB/s
backup-column-read-ms = ms /read
backup-column-write-ms = ms /write
backup-column-ms = ms /request
backup-column-system = system
backup-column-outcome = outcome
backup-column-cycle = cycle
backup-column-at = at s
backup-column-mb = MB
backup-column-data-ms = data ms/req
backup-column-target-ms = backup ms/req
backup-column-check = RATE

effect-heading = { $step }: { $system } with and without noise
effect-heading-on = { $step }: { $system } on { $medium } with and without noise
effect-neighbours = Noise is made by { $neighbours }.
effect-note = Ratios are with noise relative to without, with 95 % intervals from pairs of repeats.
effect-latency = Response times are of { $txn }, medians of the repeats.
effect-at = At { $load }: { $effects }
effect-victims = Mean of the systems' ratios: { $mean }; { $system } is affected most: { $worst }.
effect-medium = { $medium }, all I/O: { $quiet } → { $noisy } requests/s, { $quietmb } → { $noisymb } MB/s, { $quietms } → { $noisyms } ms per request.
effect-backups = Concurrent backups: { $n } complete in { $mean } s each ({ $min } to { $max }), { $rate } MB/s.
effect-no-backup = No concurrent backup completed.
effect-neighbours-rate = Neighbours: { $rate } transactions/s together.
effect-column-system = systems
effect-column-users = users
effect-column-offered = offered /s
effect-column-n = pairs
effect-column-nopm-quiet = NOPM quiet
effect-column-nopm-noisy = NOPM noisy
effect-column-rate-quiet = txn/s quiet
effect-column-rate-noisy = txn/s noisy
effect-column-ratio = ratio
effect-column-interval = ratio 95%
effect-column-p50 = p50 ratio
effect-column-p95 = p95 ratio
effect-column-p99-quiet = p99 ms quiet
effect-column-p99-noisy = p99 ms noisy
effect-column-p99 = p99 ratio
set-crossover-place = { $group } at { $load }
set-crossover-place-on = { $group } at { $load } on { $on }
set-crossover-from = { $axis } stops mattering at { $size } ({ $largest }: { $ratio } times).
set-crossover-beyond = { $axis } still matters at { $largest }, the largest amount tried ({ $ratio } times the rate at { $before }).
set-crossover-scatter = it is unknown whether { $axis } still matters at { $largest }, the largest amount tried: { $ratio } times the rate at { $before } is within the run-to-run variation of { $noise } %. Repeat the runs, or measure for longer.
set-crossover-scatter-unknown = it is unknown whether { $axis } still matters at { $largest }, the largest amount tried: it gave { $ratio } times the rate at { $before }, and run-to-run variation is unknown. Repeat the runs, or measure for longer.
set-crossover-not-evaluated = how much { $axis } is enough is not evaluated: fewer than two amounts have usable figures.

## Runs side by side

versus-heading = { $second } against { $first }
versus-nothing = The runs have no load in common.
versus-forbidden = NOT TO BE QUOTED: this comparison is forbidden by { $rules }.
versus-unit-nopm = new orders
versus-unit-transactions = transactions
versus-unit-iops = requests
versus-share = { $share } % of full speed
versus-in-flight = { $n } in flight
versus-scene-alone = alone
versus-scene-quiet = beside quiet neighbours
versus-scene-noisy = beside noisy neighbours
versus-range = { $low } to { $high }
versus-more = more
versus-less = less
versus-effect-more = { $second } does { $ratio } times the { $unit } of { $first } ({ $range }), { $percent } % { $way }.
versus-effect-less = { $second } does { $ratio } times the { $unit } of { $first } ({ $range }), { $percent } % { $way }.
versus-effect-not-shown = no difference shown ({ $range }).
versus-effect-too-small = no difference of { $minimum } % or more ({ $range }).
versus-effect-not-judged = { $second } did { $ratio } times the { $unit } of { $first }; significance is not evaluated: { $why }.
versus-not-judged = not evaluated: { $why }.
versus-unlike = no ratio: different workloads ({ $differs }). Compare runs of the same workload; compare --anyway shows the ratio.
versus-anyway = These are different workloads ({ $differs }).
versus-why-invalid = one of the two is invalid
versus-why-unlike = the workloads differ
versus-why-nothing = nothing completed
versus-why-short = there are fewer than three repeats, and less than five minutes were measured
versus-why-correlated = there are fewer than three repeats, and one trend spans the whole window
versus-by-repeats = { $first } and { $second } repeats
versus-by-windows = one window
versus-rates = Rates
versus-latencies = Response times
versus-differences = Differences between the sides
versus-no-differences = No recorded difference.
versus-folded = { $n } more known only of { $side }: the other is the output of another tool
versus-folded-where = { $what } (see --format json).
versus-sides = Compared runs
versus-column-load = load
versus-column-side = side
versus-column-title = title
versus-column-started-at = began
versus-column-commit = commit
versus-column-first = first
versus-column-second = second
versus-column-ratio = ratio
versus-column-interval = 95 % interval
versus-column-p = p (ranks)
versus-column-delta = Cliff's delta
versus-column-rests = rests on
versus-column-quantile = quantile
versus-column-first-ms = first ms
versus-column-second-ms = second ms
versus-column-difference = difference ms
versus-column-group = group
versus-column-what = what
versus-column-figure = figure
versus-column-limit = limit
versus-column-outcome = outcome
versus-group-hosts = hosts
versus-group-cpus = CPUs
versus-group-kernel = kernel
versus-group-drives = drives
versus-group-software = software
versus-group-settings = settings
versus-group-workload = workload
versus-group-sizes = sizes
versus-group-load = load
versus-group-generator-place = place of the load generator
versus-group-loaded-systems = loaded systems
versus-group-incidental = (no factor)
versus-mark = { $rule }: { $text }
versus-mark-generator = the load generator ran on { $first } on the first side and on { $second } on the second. Move both, or name the generator's place as the factor.
versus-mark-durable = { $setting } is { $first } on the first side and { $second } on the second: acknowledged commits are not equally safe. Make it equal.
versus-mark-factors = more than one thing differs: { $differs }. Change one, or name the one that is meant with --factor.
versus-mark-beside = beside { $factor } there differ: { $differs }. Change one thing only.
versus-mark-victims = { $first } systems were loaded on the first side and { $second } on the second: sums of other numbers of systems cannot be compared. Load as many.
versus-mark-repeats = { $first } and { $second } repeats: with fewer than { $fewest } the interval covers variation within these windows, not between runs. Repeat.
versus-mark-spread = repeats of one side differ by { $spread } %, more than the { $effect } % shown between the sides. Find out what changes between repeats.
versus-alone = Only in { $side }: { $loads }.
versus-chance = { $loads } loads are evaluated: if all were equal, about { $chance } of them would show a difference by chance.
versus-chart-ratios = Ratios of rates
versus-chart-ratios-note = { $second } by { $first }, with the 95 % interval; the dashed line is 1.
versus-chart-quantiles = Quantiles of response times (ms)
versus-chart-quantiles-note = Hollow: { $first }. Filled: { $second }.
versus-how = Intervals of 95 % by Student's t, from repeats or from how rates move within one window; p by the test of Mann and Whitney, of repeats. docs/compare.md explains how every number is computed and why.
versus-gate-p99 = p99 of response times
versus-gate-passed = passed
versus-gate-inconclusive = inconclusive
versus-gate-regression = REGRESSION
versus-gate-is-passed = Passed: no figure is worse than is allowed.
versus-gate-is-inconclusive = Inconclusive: the figures do not show whether one is worse than is allowed. Measure longer or more often.
versus-gate-is-unlike = Cannot be evaluated: the workloads differ. Give a baseline of the same workload.
versus-gate-is-regression = Regression: a figure is worse than is allowed.
versus-gate-forbidden = This comparison is forbidden by { $rules }; --allow takes a rule's code.

## How a ladder scales

scaling-title = Scalability
scaling-law = Universal Scalability Law: one user { $gamma }; contention α { $alpha }; coherency β { $beta }. Residuals: { $off } %.
scaling-value = { $value } ({ $low } to { $high })
scaling-peak = Its peak: { $rate } at { $users } users.
scaling-no-peak = No peak within the measured loads.
scaling-unresolved = The Universal Scalability Law is not shown: these loads do not show the rate of one user. Add fewer users to the ladder.
scaling-unfit = The Universal Scalability Law is not shown: it is off by { $off } %, more than { $limit } %.
scaling-too-few = The Universal Scalability Law is not fitted: { $loads } loads with a usable rate and a connection for each user are fewer than 5.
scaling-users = users
scaling-measured = measured
scaling-fitted = fitted
scaling-residual = residual %

## The catalogue of runs

list-none = There are no such runs.
list-started-at = began
list-file = file
list-title = title
list-status = status
list-label = label
list-systems = systems
list-media = media
list-points = points
history-none = No load was measured in two of these runs.
history-load = { $load }, { $runs } runs:
history-steady = no change found.
history-rises = rises
history-falls = falls
history-drift = Note: the series drifts. It { $way } by { $percent } % in all, { $slope } % a run, in a line rather than in steps. Do not take a step for a cause.
history-change = { $percent } % { $way } since { $file } ({ $name }, { $started }): { $before } → { $after } { $unit }.

## What other tools printed of imported runs

reported-by = Reported by { $source }
reported-files = From { $files }.
reported-note = These are the tool's own figures with the names and digits that it printed: nothing here was computed by plimsoll, and nothing is computed from it.
reported-none = No figures of the whole run were printed.
reported-parts = It printed { $n } more figures of parts of the time: see the report, or export --table reported.
reported-parts-title = Figures of parts of the time
reported-unknown = Missing in the output
reported-known = About the import
reported-load = load
reported-part = of
reported-figure = figure
reported-value = value
reported-time = time
reported-one-user = 1 user
reported-users = { $users } users
reported-users-unknown = users not known
reported-offered = { $rate }/s offered
reported-repeat = repeat { $repeat }

# Data sets: whether they were loaded for the run.
data-fresh = Data: fresh, loaded for this run.
data-reused = Data: reused, { $orders-added ->
    [null] changed by earlier runs
    [one] 1 order added since they were loaded
   *[other] { $orders-added } orders added since they were loaded
}.

# The run file: whether it is as it was when its run ended.
state-intact = Digest of the run file: SHA-256 { $digest }.
state-changed = Run file: changed or damaged after the run. SHA-256 { $digest } when it ended, { $found } now.
state-no-digest = Run file: closed without a digest. It was changed, or plimsoll was killed in the last moment.
state-open = Run file: open. The run goes on, or plimsoll was killed.
state-older = Run file: schema { $schema }, which stores no digest.

## Drives and profiles

drives-drive = drive
drives-kind = kind
drives-capacity-gb = GB
drives-sequential-read-mb-s = seq r MB/s
drives-sequential-write-mb-s = w MB/s
drives-random-read-iops = rand r IO/s
drives-random-write-iops = w IO/s
drives-write-cache = cache
drives-tbw = TBW
drives-unverified = unverified

drives-note = ? is unverified; the last column counts the unverified figures of each drive.
    `plimsoll drive show DRIVE` has every figure with its source.

figures-table = table
figures-key = figure
figures-value = value
figures-block-kib = KiB
figures-depth = depth
figures-error-percent = ± %
figures-source = source

figures-write-cache = write cache: { $cache } (source: { $source })
figures-unverified = { $name }: from memory, found in no public copy
figures-assumed = { $name }: chosen as usual for such a drive, because nothing is published

parameters-title = Parameters of the model
parameters-parameter = parameter
parameters-value = value
parameters-unit = unit

simulated-heading = { $drive }: { $profile }, { $block }, { $reads } % reads, { $load }, { $measured } simulated, drive { $full } % full, seed { $seed }
simulated-closed = { $depth } in flight
simulated-jobs = { $jobs } × { $depth } in flight
simulated-open = { $rate } per second, at most { $depth } in flight
simulated-queue = { $queue } requests in flight or waiting on average
simulated-queued = { $queued } waited in the host, { $dropped } were dropped
simulated-written = At this rate the host writes { $tb } TB a day
simulated-amplification = { $times } times as much goes to flash
simulated-endurance = the rated { $tbw } TB last { $days } days
simulated-requests = requests
simulated-ops = count
simulated-iops = IOPS
simulated-mb-s = MB/s
simulated-mean-us = mean µs
simulated-p50-us = p50
simulated-p90-us = p90
simulated-p99-us = p99
simulated-p999-us = p99.9
simulated-max-us = max

datasheet-point = data sheet
datasheet-block-bytes = block
datasheet-depth = depth
datasheet-stated = stated
datasheet-simulated = simulated
datasheet-unit = unit
datasheet-deviation-percent = deviation %
datasheet-mean-us = mean µs
datasheet-p99-us = p99 µs
datasheet-watts = W

cut-nothing-lost = Nothing was lost: every acknowledged write survived.
cut-unflushed-lost = Lost { $writes ->
    [one] 1 acknowledged write
   *[other] { $writes } acknowledged writes
} ({ $bytes }); no flush had been acknowledged for them.
cut-flushed-lost = Lost { $writes ->
    [one] 1 acknowledged write
   *[other] { $writes } acknowledged writes
} ({ $bytes }), { $flushed } of them after a flush had been acknowledged: this drive lies.

learned-fits = The model is within 10 % at every point.
learned-not-compared = The model was compared with no measurement.
learned-off = The model is off by more than 10 % at { $far } of { $points } points, most at { $point } ({ $unit }): { $percent } %.
learned-no-writes = Writes were not measured.
learned-incomplete = Writes were not measured: add their figures before you use the file.
learned-file = Drive file: { $file }

profiles-note = Points are measured in each round: each job, and each rate of its curve. – is as any block workload
    has it: 1 worker, 1 GiB, filled once.
    `plimsoll profile show PROFILE` has every job, and where the profile comes from.
profile-source = Source: { $source }
profile-in-a-plan = In a plan: [workload.NAME.block] with profile = "{ $profile }"; without more it has { $workers ->
    [one] 1 worker
   *[other] { $workers } workers
} with { $size } each, { $fill } before.
profile-not-written = not written
profile-written = written { $times ->
    [one] once
   *[other] { $times } times
}
profiles-profile = profile
profiles-title = title
profiles-jobs = jobs
profiles-points = points
profiles-workers = workers
profiles-size-gib = GiB each
profiles-fill = fill

streams-job = job
streams-stream = stream
streams-read-percent = read %
streams-random-percent = random %
streams-block = block
streams-depth = depth
streams-threads = threads
streams-per-second = per s
streams-access = access
streams-compressible-percent = compressible %
streams-direct = direct
streams-sync = sync
streams-curve-percent = curve %

conditions-clause = clause
conditions-result = result
conditions-condition = condition
conditions-holds = holds
conditions-fails = FAILS
