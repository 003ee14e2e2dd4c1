# All text in tables and reports. A test checks that every id here is used and every id used is here.

## Terms

severity-note = note
severity-warning = warning
severity-error = error

verdict-valid = valid
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
phase-reset = reset
phase-backup = backup

subject-host = Machine
subject-device = Device
subject-medium = Medium
subject-emulator = Emulator of
subject-system = System
subject-generator = Load generator
subject-worker = Host
subject-backup = Backup of

## Both tables and report

not-tpc = TPC-C-derived. Not a TPC result, and not comparable with published TPC results.
ladder = { $step }: { $system }, { $mode }
ladder-on = { $step }: { $system } on medium { $medium }, { $mode }
point-one = 1 user, { $step }, { $system }
point-closed = { $users } users, { $step }, { $system }
scene-quiet = { $place }, without noise
scene-noisy = { $place }, with noise
point-set = { $n } of { $total } points ({ $step }: { $which })
points-first = { $points }, the first
point-repeat = { $point }, repeat { $repeat }
block-whole = { $step }, { $medium }
block-point = { $job }, { $step }, { $medium }
block-point-round = { $job }, round { $round }, { $step }, { $medium }
block-at = { $job } at { $share } %
point-open = { $rate }/s offered, { $step }, { $system }
emulated-drive = Emulated drive: { $drive }
simulated-drive = Simulated drive: { $drive }
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
load-unknown = load unknown
load-in-flight = { $requests } in flight
list-and = { $first } and { $second }
list-to = { $first } to { $last }
list-more = { $names } and { $n } more
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
waits-limited = Limited by { $sign }.
waits-rough = Few samples: waits of a few percent may be missing.
consistency-none = Consistency conditions: none verified.
consistency-holds = Consistency conditions: { $verified } verified, all hold.
consistency-fails = Consistency conditions: { $verified } verified; failed: { $failed }.

ladder-repeats = Rates and latencies are medians of the repeats.
steady-yes = yes
steady-no = no
steady-too-short = too short
steady-too-few = too few
steady-not-meant = not meant
precondition = Before the first point of { $step } on { $system }, load ran for { $lasted } s with { $load }. Transactions per second in the first tenth of that time: { $first }, in the last: { $last } ({ $change } %).
reset = Between points of { $step } on { $system } the data set was reset { $times ->
    [1] once
   *[other] { $times } times
} ({ $method }): at most { $longest } s each, from up to { $largest } MB to { $last } MB. Compared: { $verified }.
precondition-cut = It ended early.

## Load lines

outcome-met = met
outcome-mixed = by some
outcome-failed = not met
outcome-short = too short
outcome-too-few = too few
line-text = The load line: { $value } { $unit } with { $objective } ({ $heading })
line-unit-open = transactions/s offered
line-unit-closed = users
line-objective = { $figure } response ≤ { $limit } ms, { $of }
line-between = Between { $low }, which every repeat met, and { $high }, which none did.
line-from = At { $low } or above: no load was clearly too high.
line-above-most = At { $most } or above: the objective is met at the highest load allowed.
line-below = Below { $high }: no load met the objective in every repeat.
line-floor = None: { $figure } is about { $ms } ms at every load from { $from } to { $to }.
line-unknown = Unknown: no load clearly met the objective, and none clearly missed it.
line-effort = Loads tried: { $loads }; repeats of each: { $repeats }; wanted precision: { $precision } %; transactions that the figure needs: { $needed }.
line-open = The search was not completed.
line-too-many = It stopped before it reached that precision.
line-too-few = It stopped where a window of { $longest } s holds too few transactions for the figure.
line-below-least = It stopped at the lowest load allowed.
line-rate-nopm = At the line: { $nopm } NOPM ({ $each } new orders/s), p99 of { $txn } { $p99 } ms.
line-rate = At the line: { $rate } transactions/s, p99 of { $txn } { $p99 } ms.
shortfall-too-few = { $samples } of { $needed } transactions needed
shortfall-incomplete = ended early
shortfall-slow = too slow
shortfall-failed = { $percent } % failed
shortfall-dropped = { $intents } dropped
shortfall-unfinished = { $intents } without an answer
shortfall-behind = { $percent } % not settled
shortfall-unsteady = unsteady ({ $range } % range, { $slope } % slope)
bottleneck-title = Bottleneck at the lowest load above the line (at the line → above it):
bottleneck-unknown = Unknown: no monitored figure stood out.
bottleneck-nothing-above = None: no load above the line was tried.
bottleneck-generator = plimsoll itself: { $change } % of the CPU that it can use. The line is not the system's: use a faster machine for the load.
bottleneck-emulator = The emulator of the drive: its operations took { $change } % longer than on the drive. The line is not the drive's.
bottleneck-other-programs = CPU of other programs: { $change } % of the machine, more than the system got.
bottleneck-steal = CPU that went to other virtual machines: { $change } % of the machine.
bottleneck-cpu = CPU of the system: { $change } % of the machine, which was full.
bottleneck-processors = Processors of the machine: { $change } % busy; by whom is unknown.
bottleneck-cpu-limit = The limit of its CPU: the system used { $change } % of it (stands out from { $limit } % on).
bottleneck-session-cpu = Work of the sessions: { $change } % of the active ones wait for nothing: CPU, as a rule (stands out from { $limit } % on).
bottleneck-device-busy = The device: busy { $change } % of the time (stands out from { $limit } % on).
bottleneck-device-write-time = Writes on the device: { $change } ms each (stands out from { $limit } times on).
bottleneck-device-read-time = Reads on the device: { $change } ms each (stands out from { $limit } times on).
bottleneck-drive-queue = The emulated drive: { $change } requests at a time (stands out from { $limit } times on).
bottleneck-reads = Reads: { $change } % of the active sessions wait for data (stands out from { $limit } % on).
bottleneck-client = Network or client: { $change } % of a transaction's time the server waits for its next statement (stands out from { $limit } % on).
bottleneck-locks = Locks: { $change } % of the active sessions wait for them (stands out from { $limit } % on).
bottleneck-log = The log: { $change } % of the active sessions wait for it (stands out from { $limit } % on).
bottleneck-connections = Connections: transactions waited for a free one for { $change } % of their response time (stands out from { $limit } % on).

## Table on the terminal

text-no-points = No load point was measured.
text-offered = offered /s
text-users = users
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
text-offered-share = offered %
text-writers = writers
text-durable = durable by
text-durable-writes = writes /s
text-flushes-s = flushes /s
text-workers = workers
text-cv = CV %
text-window = rounds
text-range-percent = range %
text-slope-percent = slope %
text-by-round = { $job }, IOPS by round:
waits-heading = Session time by wait state, in %:
counters-heading = Database counters:

## Report: headline

report-generated-by = plimsoll
report-run = Run
report-started = Started
report-lasted = Lasted
report-status = Status
report-started-unknown = not known
report-seed = Seed
report-version = plimsoll
headline-nopm = new orders per minute
headline-rate = transactions per second

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
trust-valid = No issues found.
trust-doubtful = Read these warnings before using them.
trust-invalid = Some results are invalid.
trust-conserved = Counts add up: offered = committed + rolled back + failed + dropped + in flight in each of { $seconds } seconds, at { $holds } of { $points } points to the end.
trust-conserved-broken = Counts do not add up at { $broken ->
    [1] 1 point
   *[other] { $broken } points
}: see below.
trust-conserved-imported = Conservation is not evaluated: the run was measured by another tool, which does not report what was in flight.
trust-conserved-none = Conservation could not be verified: no second was recorded.
trust-findings = Findings

## Report: ladder

ladder-title = Load ladder
ladder-caption = The highest rate is marked. ± is half the 95 % interval: one window below 300 s is too short for it, and so are two repeats.
column-users = Users
column-offered = Offered, 1/s
column-failed = Failed
column-dropped = Dropped
column-away = No server, s
column-retries = Retries
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
chart-reduced = Lines of more than 2,000 points are drawn from the minimum, mean and maximum of up to { $seconds } s each; of CPU shares, which stand above each other, from the mean. All values: plimsoll export { $run } --to csv --table series (also seconds, drive, medium).
time-note = Grey stretches are not measured; the top chart is the load: users, the offered rate, or the job. Upright lines are events. Gaps are seconds without a record; nothing is interpolated. Long preparation is hidden at first. Drag to zoom in, double-click to reset; by keyboard, Tab to a chart: + and − zoom, arrows move, 0 shows all. The scale is that of response times and times per request: logarithmic where they span more than two decades.
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
chart-latency = ms
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
detail-note = A percentile in grey has less than one transaction beyond it: it is the maximum.
column-type = Type
column-count = Completed
column-share = Share, %
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
column-member = Drive
column-busy = Busy, %
column-wear = Share of wear, %
column-amplification = Amplification
column-watts = W
column-joules = J per transaction
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
waits-note = Each bar is the time of all sessions at this load by wait state, in %, always in this order. Sessions are sampled ten times a second, simulated ones a thousand times; a sample finds each session in one state, as the server names it. Shares of less than two standard errors may be chance.
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
drive-members = Drives of the array
drive-members-note = Each drive of the array, by its model. Wear: its share of all bytes to flash. Amplification: bytes to flash for each byte written. W: mean power, by the figures of the drive file; J: its energy for each transaction, where nobody else uses the array. The first row: all drives together.
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
column-added = Adds, %
column-errors = Errors
column-emulator-cpu = Emulator CPU, % of one
column-kept-up = Keeps up
column-ratio = Ratio
column-ratio-interval = Ratio, 95 %
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

## Figures: names of the catalog of figures, and where a page has room, as it words them

figure-nopm = NOPM
figure-tpm = TPM
figure-tpm-per-user = TPM /user
    .page = TPM per user
figure-completed-per-second = txn/s
    .page = Transactions/s
figure-rolled-back-new-orders-percent = rolled back %
    .page = Rolled back, %
figure-round-trips-per-txn = round trips /txn
    .page = Round trips / txn
figure-iops = IOPS
figure-mb-per-second = MB/s
figure-moved-mb = MB
figure-mean = mean
    .page = Mean
figure-p50 = p50
figure-p90 = p90
figure-p95 = p95
figure-p99 = p99
figure-p999 = p99.9
figure-max = max
    .page = Max
figure-device-reads-per-transaction = reads /txn
figure-interval-percent = ±%
    .page = ± %
figure-late-percent = late p50 %
    .page = Late p50, %
figure-beyond-percent = beyond %
    .page = Beyond, %
figure-seconds = seconds
unit-ms = ms
unit-us = µs

# One of several values of a figure.
heading-ratio = { $figure } ratio
heading-quiet = { $figure } quiet
heading-noisy = { $figure } noisy
heading-alone = { $figure } alone
heading-beside = { $figure } beside
heading-slowed = { $figure } slowed
heading-as-run = { $figure } as run
heading-mean = mean { $figure }
    .page = Mean { $figure }
heading-lowest = lowest { $figure }
    .page = Lowest { $figure }
heading-highest = highest { $figure }
    .page = Highest { $figure }
heading-all = { $figure }
    .page = { $figure }, all

## Report: block I/O and the doctor

level-ok = ok
level-unknown = unknown
level-warning = warning
level-error = error
doctor-machine = This machine
doctor-medium = { $name } ({ $kind })
doctor-title = Doctor: checks before the load
doctor-sentence = Errors: { $errors }; warnings: { $warnings }; not evaluated: { $unknown }; passed: { $ok }.
doctor-fine = Checks passed
column-level = Level
column-check = What
column-found = Found
column-next = What to do
block-heading = Block I/O: { $step } ({ $workload })
block-profile = Profile { $profile }.
block-on = Medium: { $medium }.
block-worker = One worker with { $size } of its own.
block-workers = { $workers } workers, each with { $size } of its own.
block-jobs-title = Jobs
block-jobs-note = IOPS and MB/s of reads, writes and trims together, over all workers. Latency in µs from submission to completion. ± is half the 95 % interval of IOPS; one window below 300 s is too short for it.
block-rounds-note = All figures of a job and of its kinds of requests are medians of the rounds. Those of its workers and of its drives are of the round nearest to the median IOPS.
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
block-sync-flush = fdatasync, every { $every ->
    [1] write
   *[other] { $every } writes
}
block-direct = O_DIRECT
block-cached = page cache
block-sizes = read { $reads }; write { $writes }
block-rounds-title = Rounds until steady
block-rounds-rule = Steady when over the last { $window } rounds the IOPS of every job range over at most { $range } % of their mean and their least-squares line rises or falls by at most { $slope } % of it; given up after { $most } rounds (SNIA PTS 2.0.2 has 5, 20 %, 10 % and 25). Shaded: the last window; solid: the line through it; dotted: half the range allowed below and above the mean.
block-rounds-chart = { $title }: steady
block-rounds-chart-not = { $title }: not steady
block-steady = { $medium }: steady with round { $last }. Figures are those of rounds { $first } to { $last }.
block-not-steady = { $medium }: STEADY STATE NOT REACHED after { $rounds ->
    [1] 1 round
   *[other] { $rounds } rounds
} (at most { $most }).
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
column-cv = CV, %
column-worker = Worker
column-offered-share = Offered, % of full
column-window = Window
column-range-percent = Range, % of mean
column-slope-percent = Slope, % of mean
chart-title-block-iops-time = IOPS
chart-title-block-mb-time = MB/s
chart-title-block-latency-time = Latency
chart-block-us = µs
chart-block-mean = mean
chart-block-p99 = p99
chart-block-full = full speed
chart-block-offered = offered, of full speed
chart-block-job-time = s of this job
chart-block-job-time-min = min of this job
chart-block-round = round
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
how-line-text = The highest load that meets the objective in every repeat: the figure of response time, of enough transactions, up to the limit, at most 1 % failed, and in an open loop nothing dropped and at least 99 % settled, in a steady window. Loads double from the start until none of the repeats meets it, then the gap is halved in ratios. Loads that only some repeats meet lie within the interval.
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
set-chart = { $figure } by { $axis }
set-chart-at = { $chart }, load { $load }
set-at-load = load { $load }
set-chart-note = Medians of the runs. A bar is the 95 % interval of the mean, or the range of the runs where there is none.
set-chart-hollow = Hollow: invalid, not to be quoted.
set-reads-long = Reads of the device for each transaction
set-how = Each run has a report of its own: plimsoll report FILE. How figures are computed: docs/method.md.
set-answer = At { $load }, { $best } gives { $rate } { $unit }: { $ratio } times { $lowest }{ $interval ->
    [none] {" "}(without an interval)
   *[other] {" "}({ $interval }{ $window ->
        [true] {" "}within these windows
       *[false] {""}
     })
}.
set-answer-excluded = Invalid and not compared: { $names }.
set-answer-one = At { $load }, { $best } gives { $rate } { $unit }; no other combination is valid there.
set-answer-speed = At { $load }, { $best } gives { $rate } { $unit }.
set-answer-uncertain = No answer, too uncertain: at { $load }, the ratio of { $best } to { $lowest } has an interval wider than a factor of 2.
set-answer-imposed = No combination is compared by throughput: the plan imposes the rates. Compare response times below.
set-answer-none = No answer: no combination has a valid throughput.
set-emulated = Measured on emulated drives: { $drives }.
set-simulated = Simulated, not measured, on models of drives: { $drives }.{ $memory ->
    [limited] {" "}With little memory Linux 6.18 read more often than the model: expect lower figures there.
   *[other] {""}
}
set-next-report = one combination
set-next-tables = all tables
set-trust = { $valid } of { $rows } figures valid · { $runs } of { $of } runs complete.
set-trust-single = One run of each: run-to-run variation is unknown (--repeat 5).
set-drive = emulated drive
set-because = because
set-load = load
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
medium-source-model = model of the drive
backup-column-data = data on
backup-column-target = backup on
backup-column-what = what
backup-column-on = medium
backup-column-source = source
backup-column-n = n
backup-column-interval = 95%
backup-column-spread = min-max
backup-column-ratio = ratio
backup-column-ratio-interval = ratio 95%
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
effect-column-ratio = ratio
effect-column-interval = ratio 95%
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
versus-forbidden = Do not quote this ratio: { $why }
versus-cause-settings = { $n } settings differ ({ $names }): which of them did it is not shown.
versus-simulated = { $simulated } is simulated in virtual time and { $other } is not: the ratio is that of a model to a measurement.
versus-cause = Several things differ: { $what }. Which of them did it is not shown.
versus-unit-nopm = new orders
versus-unit-completed-per-second = transactions
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
versus-one-window = { $second } did { $ratio } times the { $unit } of { $first } ({ $range } within these windows), { $percent } % { $way }; run-to-run variation is unknown.
versus-effect-not-judged = { $second } did { $ratio } times the { $unit } of { $first }; significance is not evaluated: { $why }.
versus-not-judged = no ratio: { $why }.
versus-unlike = no ratio: different workloads ({ $differs }). Compare runs of the same workload; compare --anyway shows the ratio.
versus-anyway = These are different workloads ({ $differs }).
versus-why-invalid = { $side } is invalid (plimsoll audit shows why)
versus-why-both-invalid = both are invalid (plimsoll audit shows why)
versus-why-unlike = the workloads differ
versus-why-speeds = their drives ran at unlike speeds
versus-why-nothing = nothing completed
versus-why-few-intervals = there are fewer than three repeats, and too few intervals are known of the window
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
versus-column-requirement = requirement
versus-column-value = value
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
versus-mark-beside = { $factor } is named as the one difference, and { $differs } differ as well. Change one thing only.
versus-mark-victims = { $first } systems were loaded on the first side and { $second } on the second: sums of other numbers of systems cannot be compared. Load as many.
versus-mark-repeats = { $first } and { $second } repeats: with fewer than { $fewest } the interval covers variation within these windows, not between runs. Repeat.
versus-mark-spread = repeats of one side differ by { $spread } %, more than the { $effect } % shown between the sides. Find out what changes between repeats.
versus-alone = Only in { $side }: { $loads }.
versus-chance = { $loads } loads are evaluated: if all were equal, about { $chance } of them would show a difference by chance.
versus-chart-ratios = Ratios of rates
versus-chart-ratios-note = { $second } by { $first }, with the 95 % interval; the dashed line is 1.
versus-trust = { $n } of { $of } loads compared.
versus-chart-quantiles = Quantiles of response times (ms)
versus-chart-quantiles-note = Hollow: { $first }. Filled: { $second }.
versus-how = Intervals of 95 % by Student's t, from repeats or from how rates move within one window; p by the test of Mann and Whitney, of repeats. docs/compare.md explains how every number is computed and why.
versus-gate-p99 = p99 of response times
versus-gate-passed = passed
versus-gate-inconclusive = inconclusive
versus-gate-regression = REGRESSION
versus-gate-failed = FAILED
versus-gate-is-passed = Passed: no figure is worse than is allowed.
versus-gate-is-inconclusive = Inconclusive: { $why }
versus-gate-is-regression = Regression: at { $load }, { $run } has { $ratio } times the { $figure } of { $baseline } ({ $range }); { $latency ->
    [true] at most { $limit } is allowed
   *[false] at least { $limit } is required
}.
versus-gate-more = { $n ->
    [one] 1 more figure is
   *[other] { $n } more figures are
} worse than allowed.
versus-gate-one-window = Single windows: run-to-run variation is not in the intervals.
versus-gate-objection = { $why } To accept it: --allow { $rule }.
versus-gate-machine = more differs than the change under test: { $what }. Which of them changed the figures is not shown. Measure both on the same machine.
versus-gate-unlike = the workloads differ ({ $differs }). Give a baseline of the same workload.
versus-gate-missing = { $run } has no figures for { $loads }. Run the plan of { $baseline }.
versus-gate-none = at { $load }, { $why }.
versus-gate-few = at { $load }, { $why }. Repeat both, or measure for longer.
versus-gate-no-percentile = at { $load }, there are too few response times for an interval of p99. Measure longer.
required-passed = Passed: every requirement is met at every load.
required-passed-doubtful = Passed: every requirement is met at every load, { $n ->
    [one] at 1 of them
   *[other] at { $n } of them
} by doubtful figures (plimsoll audit shows why).
required-missed = at { $load }, { $figure } is { $value }, and { $requirement } is required
required-failed = Failed: at { $load }, { $figure } is { $value }, and { $requirement } is required.
required-more = { $n ->
    [one] 1 more is missed.
   *[other] { $n } more are missed.
}
required-invalid = at { $load }, the point is invalid and cannot meet { $requirement } (plimsoll audit shows why).
required-no-figure = at { $load }, { $figure } was not measured, or too few response times resolve it. Measure longer.
required-no-load = { $requirement } is required, and no load has { $figure }.
required-ended-early = the run ended early, and loads may be missing.
required-ms = { $value } ms
required-percent = { $value } %
versus-gate-limit-in-interval = at { $load }, the ratio of { $figure } lies between { $low } and { $high }, and the limit is { $limit }. Measure longer or more often.

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

## The catalog of runs

list-none = There are no such runs.
list-started-at = began
list-began = began (UTC)
list-compare = compare
list-file = file
list-title = title
list-status = status
list-label = label
list-systems = systems
list-media = media
list-rate-shown = rate
list-verdict = verdict
list-unit-nopm = orders/min
list-unit-completed-per-second = txn/s
list-unit-iops = IOPS
list-points = points
history-none = No load was measured in two of these runs.
history-load = { $load }, { $runs } runs:
history-steady = no change found.
history-too-few = too few to find a step: { $fewest } are needed, { $half } before and { $half } after it. To compare two groups of runs, give two sets to plimsoll compare.
history-rises = rises
history-falls = falls
history-drift = Note: the series drifts. It { $way } by { $percent } % in all, { $slope } % a run, in a line rather than in steps. Do not take a step for a cause.
history-change = { $percent } % { $way } since { $file } ({ $name }, { $started }): { $before } → { $after } { $unit }.

## The live page, and the catalog of runs on it

live-loading = Waiting for the first figures.
live-badge = running
live-preliminary = These figures are preliminary: the audit is part of the report.
live-report-now = Report of what is measured so far
live-prepare = Starting systems and loading data for { $step }.
live-reset = Resetting the data of { $step }.
live-warm = Warming up { $systems } with { $load }.
live-measure = Measuring { $systems } with { $load }.
live-cool = { $systems }: waiting for the last transactions.
live-check = Verifying the consistency of the data of { $step }.
live-backup = Backing up and restoring in { $step }.
live-between = Preparing the next load.
live-complete = The run is complete.
live-interrupted = The run was interrupted. What was measured until then is in its report.
live-failed = The run failed. Its report has the reason and what was measured until then.
live-systems = { $n } systems
live-each = { $load } each
live-phase = { $done } so far
live-phase-of = { $done } of { $planned }
live-left = About { $time } left under load; loading and checks come on top.
live-cpu = CPU { $percent } % busy
live-device = { $device } { $percent } % busy
live-chart = Transactions per second, the last ten minutes (shaded: warm-up)
live-time = time since the start of the run
live-table = Figures of the last second
live-system = System
live-failures = Failed,
    this load
live-lost = The connection is lost. Trying again.
live-no-script = The figures of a run that goes on need JavaScript. Reports and comparisons of runs do not.
live-contents = Pages
runs-title = Runs
runs-shown = { $n } of { $total } runs
runs-text = title, label or file
runs-any = any
runs-since = began on or after
runs-filter = Filter
runs-all = Show all
runs-live = running
runs-compare-chosen = Compare chosen runs
runs-compare-note = The oldest of them is the one that the others are compared with.

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

drives-page-question = Which drives can be emulated?
drives-page-answer = { $n } drives, from { $lowest } random reads per second ({ $slowest }) to { $highest } ({ $fastest }).
drives-page-trust = Figures come from data sheets and measurements.
drives-page-trust-unverified = Figures come from data sheets and measurements; those marked ? are unverified.
drives-page-chart = Random reads per second ({ $kind })
drives-page-next = What to do next
drives-page-show = All figures of a drive with their sources: plimsoll drive show DRIVE
drives-page-bench = The same load on emulated drives: plimsoll bench sqlite . --drive DRIVE,DRIVE
drives-note = ? is unverified; the last column counts the unverified figures of each drive.
    `plimsoll drive show DRIVE` has every figure with its source. Short names: nvme, sata, disk, or a part of a name that
    no other has, such as pm9a3.

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

simulated-heading = { $drive }: { $profile }, { $block }, { $reads } % reads, { $load }, { $measured } simulated, drive { $full } % full, { $seeds ->
    [1] seed { $seed }
   *[other] seeds { $seed } to { $last }
}
simulated-closed = { $depth } in flight
simulated-jobs = { $jobs } × { $depth } in flight
simulated-open = { $rate } per second, at most { $depth } in flight
simulated-queue = { $queue } requests in flight or waiting on average
simulated-seeds = IOPS of the { $seeds } seeds: { $lowest } to { $highest }; their mean is between { $low } and { $high } (95 %).
simulated-power = drives take { $watts } W, { $millijoules } mJ for each request
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
simulated-array-requests = { $capacity } usable. Each request took { $reads } reads and { $writes } writes of drives.
simulated-array-rebuild = Member { $member } was rebuilt at { $rate } MB/s: { $hours } hours for all of it.
losses-heading = Probability of data loss within { $years } years
losses-note = Lost: more drives are missing than the level or the policy tolerates. Block: a rebuild meets a block that it cannot read. ± is half of the 95 % interval of { $histories } simulated lives. Assumed: { $afr } % of drives fail in a year, a new one is there after { $hours } hours, and nothing slows the rebuild down.
losses-array = array
losses-usable-tb = TB usable
losses-rebuild-hours = rebuild h
losses-lost-percent = lost %
losses-lost-half-width = ±
losses-block-percent = block %
losses-block-half-width = ±
members-member = member
members-state = state
members-reads-s = reads/s
members-writes-s = writes/s
members-read-mb-s = MB/s read
members-written-mb-s = MB/s written
members-busy-percent = busy %
members-write-amplification = write amplification
members-queue = in flight
members-watts = W
members-years = years to rated TBW

replayed-heading = { $drive }: { $requests } logged requests, { $capacity }, drive { $full } % full, seed { $seed }
replayed-requests = requests
replayed-time = time
replayed-ops = count
replayed-mean-us = mean µs
replayed-mean-difference-percent = deviation %
replayed-p99-us = p99 µs
replayed-p99-difference-percent = deviation %

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

plans-plan = plan
plans-takes = takes
plans-needs = needs
plans-question = question
plans-note = Run one      plimsoll run quickstart
    Change one   plimsoll init quickstart
    All          plimsoll plans --all   (published tests at their full size too)

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

## plimsoll predict

predicted-medium = medium
predicted-users = users
predicted-measured = measured tx/s
predicted-predicted = predicted tx/s
predicted-low = low
predicted-high = high
predicted-nopm = new orders/min
predicted-cpu-ms = CPU ms
predicted-read-ms = read ms
predicted-flush-ms = commit ms
predicted-lock-ms = lock ms
predicted-cpu-percent = CPU %
predicted-note = low and high: 95 % interval from errors of cases with a known answer. CPU, read, commit and lock: time of a predicted transaction.
predicted-refused-many-systems = Refused: { $points }. The point is the sum of several systems. Predict from a run with one system.
predicted-refused-not-emulated = Refused: { $points }. The drive is not emulated, so its model is unknown. Run the plan on an emulated drive.
predicted-refused-simulated = Refused: { $points }. The figures are simulated: simulate the other drive as well, or this one without `slower`.
predicted-refused-offered-rate = Refused: { $points }. The load was offered at a rate. Run the plan with `users` only.
predicted-refused-invalid-source = Refused: { $points }. The audit found the point invalid. Run it again with slowed drives: `slower` in the plan.
predicted-refused-unsteady = Refused: { $points }. The rate was not steady. Measure longer.
predicted-refused-nothing-measured = Refused: { $points }. No transaction completed. Run the plan again.
predicted-refused-no-plan = Refused: { $points }. The run file has no plan that can be read. Run the plan again.
predicted-refused-not-calibrated = Refused: { $points }. No cases with a known answer for this engine, workload or mode. Measure some and run `plimsoll predict --verify`.
predicted-refused-not-modelled = Refused: { $points }. The model is far from what was measured at this point: something else than CPU, drive and locks took the time. Look for it with `plimsoll audit`.
predicted-refused-processors = Refused: { $points }. Processors would be more than 90 % busy, where nothing was measured. Use fewer users or a machine with more processors.
predicted-refused-processors-not-calibrated = Refused: { $points }. Another number of processors was not calibrated. Leave out --cpus.
predicted-refused-memory = Refused: { $points }. This amount of memory was not measured. Run the plan with it.
verified-from = from
verified-to = to
verified-users = users
verified-change = change
verified-measured = measured tx/s
verified-predicted = predicted tx/s
verified-error-percent = error %
verified-summary = { $change }: { $cases } cases, median error { $median } %, 90 % within { $most } %, worst { $worst } %, { $held } % in their intervals, root mean square of the logarithm { $error }

## Answer

answer-at-unknown = At an unknown number of users
answer-at-users = { $users ->
    [1] At 1 user
   *[other] At { $users } users
}
answer-at-rate = At { $rate } transactions offered a second
answer-at-full-speed = { $at } and full speed (predicted)
answer-at-slowed = { $at }, on drives that ran { $slower } times slower than rated
answer-of-valid = { $at }, of the media with a valid figure
answer-ratio-response = { $medium } takes { $ratio } times as long{ $interval }
answer-ratio = { $ratio } times that of { $medium }{ $interval }
answer-no-interval = {" "}(without an interval)
answer-interval = { " " }({ $low } to { $high })
answer-and = { $first } and { $last }
answer-simulated = Simulated, not measured: SQLite itself in virtual time, on models of the drives, of { $cpus } processors{ $speed ->
    [none] {""}
   *[other] {" "}{ $speed } times as fast as the reference
 } and of { $memory ->
    [none] enough memory for all data
   *[other] { $memory } of page cache, with which Linux 6.18 read more often than this model: expect lower figures
 }.
answer-cpu-speeds = With processors 0.65 and 1.5 times as fast (predicted) it would be { $ratios }.
answer-cpu-speeds-ratio = { $slow } and { $fast } times that of { $medium }
answer-cpu-speeds-rate = With processors 0.65 and 1.5 times as fast it would be { $slow } and { $fast } (predicted).
answer-media = { $at }, { $best } carries the most load: { $ratios }.
answer-media-response = { $at }, { $best } responds fastest: by p99, { $ratios }.
answer-media-tied = { $at }, { $best } and { $tied } carry about the same load: the ratio is { $ratio }{ $interval }.
answer-media-tied-response = { $at }, { $best } and { $tied } respond about as fast: the ratio of p99 is { $ratio }.
answer-media-others-response = By p99, { $ratios }.
answer-media-others = { $best } carries { $ratios }.
answer-measured = Measured with drives { $slower } times slower than rated: { $ratios }.
answer-measured-ratio = { $best } carries { $ratio } times the load of { $medium }{ $interval }
answer-left-out = There is no valid figure for { $media }.
answer-load = { $at }, { $medium } carries { $rate } { $unit }{ $interval }{ $p99 }.
answer-load-one = { $at }: { $rate } { $unit }{ $interval }{ $p99 }.
answer-p99 = , with a p99 of { $p99 } ms
answer-load-response = { $at }, transactions on { $medium } take up to { $p99 } ms (p99).
answer-load-step = It is that of the step “{ $step }”.
answer-load-steps = It is that of the step “{ $step }”; the others carry at most: { $others }.
answer-load-grows = More users may carry more: the highest load that was tried is the best one.
answer-none-nothing = No answer: no point has a valid figure.
answer-none-one = No answer: only { $valid } has a valid figure, so there is nothing to compare it with.
answer-none-load = No answer: no two media have a valid figure at the same load.
answer-none-speeds = No answer: { $speeds }, and full speed cannot be predicted, so there is no ratio.
answer-none-uncertain = No answer, too uncertain: { $ratios }.
answer-none-order = No answer, the result contradicts its drives: { $best } came out { $ratio } times better than { $faster }{ $interval }, whose drive is at least as fast for every kind of request. Something else made the difference: repeat it on a quiet machine, with longer windows.
answer-uncertain = Too uncertain to compare: { $ratios }.
answer-uncertain-ratio = { $best } carries { $low } to { $high } times the load of { $medium }
answer-unpredicted = Full speed is too uncertain to predict for { $media }.
answer-speed = { $medium } ran at { $slower ->
    [1] full speed
   *[other] 1/{ $slower } speed
}
answer-speeds = No ratio between media of unlike speed: { $speeds }.
answer-other-speeds = Without a ratio, because the speeds differ: { $speeds }.
answer-medium-speed = { $medium } (1/{ $slower } speed)
answer-unslowed = Emulated at full speed, so measured there and not predicted: { $media }.
answer-real-emulated = Real: { $real }; the others are emulated.
answer-real-predicted = Real, as measured: { $real }; the others are emulated and predicted.
answer-invalid = No answer, the result is invalid: { $why }.
answer-invalid-unexplained = No answer: the result is invalid.
answer-in-part = Invalid in part ({ $why }): { $sentence }
answer-in-part-points = { $invalid } of { $total } points { $invalid ->
    [1] is
   *[other] are
} invalid and left out: { $sentence }
answer-system = the system
answer-unit-nopm = new orders a minute
answer-unit-rate = transactions a second
answered-medium = medium
answered-users = users
answered-offered = offered 1/s
answered-full-speed = full speed (predicted)
answered-ratio = ratio
answered-best-ratio = best / this
answered-best-p99-ratio = p99 / best
answered-ratio-interval = ratio 95 %
answered-verdict = verdict
answered-line = load
answered-above = too much
answered-load = load
answered-rate-ratio = rate ratio
answered-step = step
answered-cuts = cuts
answered-acknowledged = acknowledged
answered-lost = lost
answered-recovery = recovery s
answered-target = backup on
answered-what = what
answered-seconds = seconds
answered-seconds-interval = 95 %
answered-job = job
answered-sheet = sheet %
answer-objective = the { $figure } of { $of } at most { $limit } ms
answer-any = transactions
answer-line-rate = { $load } transactions a second
answer-line-users = { $load ->
    [1] 1 user
   *[other] { $load } users
}
answer-with-objective = { " " }with { $objective }
answer-line-slower = { " " }(its drive ran { $slower } times slower than rated)
answer-line = { $medium } carries { $load }{ $with }{ $slower }; { $above } is too much.
answer-line-most = { $medium } carries { $load }{ $with }{ $slower }, or more: it is the highest load that the plan allows.
answer-line-open = { $medium } carries { $load }{ $with }{ $slower }; no load was clearly too much.
answer-line-none = { $medium } does not carry even { $above }{ $with }{ $slower }.
answer-line-floor = { $medium } does not meet { $figure } ≤ { $limit } ms at any load{ $slower }: the { $figure } of { $of } is about { $ms } ms from { $from } to { $to }, and does not fall with the load.
answer-line-few-below = No answer for { $medium }: at { $lowest } the { $figure } of { $of } is { $ms } ms, above { $limit } ms, and lower loads complete too few transactions for it ({ $needed } in { $longest } s){ $slower }.
answer-line-few = No answer for { $medium }: no load completed the { $needed } transactions that the { $figure } of { $of } needs, in { $longest } s{ $slower }.
answer-line-unfinished = No answer for { $medium }: the search was not completed, and no load had met the objective by then{ $slower }.
answer-line-unknown = No answer for { $medium }: no load clearly met the objective and none clearly missed it.
answer-line-invalid = No answer: no load line rests on a valid point.
answer-line-ratios = With { $objective }, { $best } carries the most load: { $ratios }.
answer-sign = { $medium }: { $sign }.
answer-sign-generator = plimsoll itself ({ $figure } % of its CPU), so a faster load generator may find more
answer-sign-emulator = the emulator of the drive, which answered late (its operations took { $figure } % longer than on the drive)
answer-sign-other-programs = CPU of other programs ({ $figure } % of the machine, more than the system got)
answer-sign-steal = CPU that went to other virtual machines ({ $figure } % of the machine)
answer-sign-cpu = CPU of the system ({ $figure } % of the machine, which was full)
answer-sign-processors = processors of the machine ({ $figure } % busy; by whom is unknown)
answer-sign-cpu-limit = the limit of its CPU, of which it used { $figure } %
answer-sign-session-cpu = work of its sessions ({ $figure } % of active ones wait for nothing: CPU, as a rule)
answer-sign-device-busy = the device ({ $figure } % busy)
answer-sign-device-write-time = writes ({ $figure } ms each)
answer-sign-device-read-time = reads ({ $figure } ms each)
answer-sign-drive-queue = the queue of the emulated drive ({ $figure } requests)
answer-sign-reads = reads ({ $figure } % of active sessions wait for data)
answer-sign-client = network or client (for { $figure } % of a transaction's time the server waits for its next statement)
answer-sign-locks = locks ({ $figure } % of active sessions wait for them)
answer-sign-log = the log ({ $figure } % of active sessions wait for it)
answer-sign-connections = connections (transactions wait { $figure } % of their time for one)
answer-noise = { $at }, p99 on { $medium } is { $noisy } ms beside { $neighbours } and { $quiet } ms without: { $ratio } times as long{ $interval }.
answer-noise-none = { $at }, the effect of { $neighbours } on { $medium } is unknown: no repeat is valid both with and without.
answer-noise-uncertain = { $at }, the effect of { $neighbours } on { $medium } is too uncertain for an answer.
answer-noise-rate = Throughput is { $ratio } times that without{ $interval }.
answer-noise-backup = A backup beside this load took { $seconds } s{ $interval }.
answer-noise-backups = backups
answer-cut-kept = { $medium } lost no acknowledged transaction in { $cuts ->
    [1] 1 power cut
   *[other] { $cuts } power cuts
} ({ $acknowledged } checked).
answer-cut-lost = { $medium } lost { $lost } of { $acknowledged } acknowledged transactions in { $cuts ->
    [1] 1 power cut
   *[other] { $cuts } power cuts
}.
answer-cut-unknown = No answer for { $medium }: no acknowledged transaction could be checked after the power cut.
answer-cut-lied = Its drive lost { $writes } writes whose flush it had acknowledged.
answer-cut-not-recovered = The database did not recover after { $failed } of { $cuts } power cuts.
answer-cut-recovered = The database accepted connections { $seconds } s after the power came back.
answer-array = { $medium } carries { $changes }, compared with before the first event.
answer-array-before = Before it: { $rate } { $unit }{ $p99 }.
answer-array-degraded = { $ratio } times the load degraded
answer-array-rebuilding = { $ratio } times during the rebuild of { $seconds } s
answer-rebuild-unfinished = { $ratio } times in { $seconds } s of a rebuild that had not ended then
answer-array-rebuilt = { $ratio } times after it
answer-array-slow = { $ratio } times the load with a slow member
answer-array-network = { $ratio } times with the changed network
answer-array-recovered = { $ratio } times when that has ended
answer-array-data-lost = { $ratio } times after data were lost
answer-array-whole = { $ratio } times
answer-array-lost = { $medium } has lost data: more members failed than it can do without.
answer-array-normal = { $seconds } s after the first event the load is back to 90 % of that before.
answer-array-always-normal = The load never fell below 90 % of that before.
answer-array-not-normal = The load was not back to 90 % of that before when the measurement ended.
answer-array-short = Too little was measured after the last event to know whether the load is back to 90 % of that before.
answer-array-consistent = All consistency conditions hold after it.
answer-array-inconsistent = The data are not consistent after it.
array-state-whole = before
array-state-degraded = degraded
array-state-rebuilding = rebuilding
array-state-rebuilt = rebuilt
array-state-slow = slow member
array-state-network = other network
array-state-recovered = after
array-state-data-lost = data lost
answered-array = array
answered-from = from s
answered-failed = failed
answer-backup = A { $kind ->
    [restore] restore of { $medium } from { $target }
   *[backup] backup of { $medium } to { $target }
} takes { $seconds } s{ $interval } at { $rate } MB/s{ $slower }.
answer-backup-none = No { $kind ->
    [restore] restore
   *[backup] backup
} of { $medium } completed.
answer-block = “{ $medium }” reaches { $iops } IOPS{ $interval } in { $job }{ $p99 }, and { $mb } MB/s in { $wide }.
answer-block-one = “{ $medium }” reaches { $iops } IOPS{ $interval } and { $mb } MB/s in { $job }{ $p99 }.
answer-block-media = { $ratios } the IOPS of “{ $first }”, depending on the job.
answer-block-ratio = “{ $medium }” does { $low } times
answer-block-ratios = “{ $medium }” does { $low } to { $high } times
answer-block-sheet = “{ $medium }” does { $low } to { $high } % of what its data sheet states: { $near } of { $all } figures are within { $tolerance } %.
answer-block-sheet-one = “{ $medium }” does { $high } % of what its data sheet states.
answer-block-uncertain = { $n ->
    [1] 1 ratio is
   *[other] { $n } ratios are
} too uncertain.
answer-block-more = { $more } more jobs are in the tables.
answer-limited-label = Limited by
answer-trust-label = Trust
answer-next-label = Next
answer-report-label = Report
answer-limited-title = What limits it
answer-next-title = What to do next
answer-table-title = Figures of the answer
answer-chart-nopm = New orders a minute{ $speed }{ $intervals }
answer-chart-line = Highest load with { $objective }; whiskers end at the lowest that was too much
answer-chart-noise = p99 in ms, alone and beside the noise
answer-chart-quiet = { $medium }, alone
answer-chart-noisy = { $medium }, beside the noise
answer-chart-backup = Seconds{ $intervals }
answer-chart-iops = IOPS{ $intervals }
answer-chart-sheet = Percent of the data sheet
answer-chart-rate = Transactions a second{ $speed }{ $intervals }
answer-chart-intervals = , with 95 % intervals
answer-chart-full-speed = { " " }at full speed (predicted)
answer-chart-slowed = { " " }on slowed drives
answer-contents = Contents
answer-users-of = { $users ->
    [1] 1 user
   *[other] { $users } users
}
answer-limited = { $medium }: { $what } ({ $percent } %){ $locks }.
answer-limited-locks = { " " }and waiting for locks
answer-limiter-cpu = CPU
answer-limiter-reads = reads
answer-limiter-log = durable commits
answer-points-valid = { $total ->
    [1] 1 point, valid
   *[other] all { $total } points are valid
}
answer-points-none = no points of transactions or block I/O
answer-trust-findings = by other findings of the run; { $points }
answer-trust-audit = by the rules below; { $points }
answer-points-doubtful = { $valid } of { $total } points valid, { $doubtful } doubtful
answer-points-invalid = { $valid } of { $total } points valid, { $doubtful } doubtful, { $invalid } invalid
answer-limit-cases = { $n } ×
answer-limit-more = { $n ->
    [1] 1 more limit
   *[other] { $n } more limits
}, listed with all tables.
answer-next-explain = why, and what helps
answer-next-tables = all tables
