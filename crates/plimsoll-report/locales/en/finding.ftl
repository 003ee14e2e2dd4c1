# Findings of a run. The sentence is what happened; `.detail` has the figures behind it, `.next` what to do.

finding-run-ended = Run { $status }{ $reason ->
    [none] .
   *[other] : { $reason }
}
finding-nothing-measured = Nothing was measured.
finding-nothing-completed = No transaction completed on { $system } in the { $measured-s } s measured.
    .detail = There are no response times, and the rate is only known to be low.
    .next = Measure for longer.
finding-phase-incomplete = The { $phase } phase ended early, after { $lasted-s } s.
finding-coarse-window = Percentiles come from per-second histograms: up to 3.2 % off.
    .detail = The phase was never closed, so that its exact histograms are missing.
finding-contradicted = The figures cannot all be true: rule { $rule } of the audit shows which contradict each other.
finding-few-intervals = The source reports { $measured-s } s in { $intervals } intervals: whether the rate was steady is evaluated from five on.
finding-seconds-missing = { $missing-s } s of the window have no record. Rates count only what was recorded.
finding-short-window = { $measured-s } s are too short to evaluate whether the rate was steady: five seconds are needed.
finding-too-few-samples = { $samples } transactions are too few for the objective's { $figure }: { $needed } are needed.
    .detail = Fewer show that a load misses the objective where 20 of them are above its limit, but not by how much.
finding-counts-broken = Counts do not add up at { $at-s } s: { $offered } offered, { $settled } settled, but { $in-flight } in flight.
finding-not-drained = Still in flight when the record ends: { $in-flight }.
finding-histogram-disagrees = { $txn }: { $completed } transactions completed, but the histogram holds { $histogram }.
finding-histogram-sample = Latencies come from a random sample: { $histogram } of { $completed } transactions ({ $percent } %).
finding-clipped = { $txn }: { $values } latencies were longer than an hour and counted as one.
finding-unsteady = The rate was not steady: it changed by { $range-percent } % over the window (limit 20 %).
    .detail = { $range-percent } % of the mean lie between the rates of the window's five parts, and { $slope-percent } % between the ends of the line through them (limit 10 %).
finding-backlog-grew = The system does not sustain this rate: the backlog grew by { $intents ->
    [1] 1 transaction
   *[other] { $intents } transactions
}, { $percent } % of those offered.
finding-unfinished = { $intents } of the transactions that were due in the window had no answer when the load was over, after { $least-ms } ms or more.
    .detail = They count with their age, so the mean{ $first ->
        [max] { " " }and the maximum are
        [p999] , p99.9 and the maximum are
       *[other] , { $first } and what is above it are
    } at least what is stated.
    .next = Offer a lower rate, or a longer cool.
finding-unanswered = { $intents ->
    [1] 1 of { $offered } transactions was not
   *[other] { $intents } of { $offered } transactions were not
} answered in the window: { $percent } % (limit { $limit-percent } %).
    .detail = Response times include those that were answered later; the rate does not.
    .next = Check that the server could be reached all the time, or offer a lower rate.
finding-server-away = The server was unavailable for { $away-s } s of the window, { $percent } % of it (limit { $limit-percent } %).
    .detail = Rates and response times include that time.
    .next = Measure again with a server that stays up.
finding-not-served = { $failed } failed and { $dropped } dropped: { $percent } % of the offered transactions.
finding-condition-fails = Consistency condition { $clause } does not hold on { $subject }: { $detail }
finding-verification-failed = The consistency conditions could not be verified: { $error }
finding-not-verified = No consistency condition was verified.
finding-emulated = The emulator of { $drive } fell behind: operations took { $added-percent } % longer than on the drive (limit 5 %; doubtful from 1 %).
    .detail = Half of { $ops } { $op } operations were at least { $late-p50-us } µs late, { $late-percent } % of the modelled { $modelled-p50-us } µs (limit 10 %), and { $beyond-percent } % took longer than the next modelled percentile (limit 1 %).
    .next = Use fewer users, a slowed drive (slower = 20 in its medium), or a machine that does nothing else.
finding-emulation-waited = Requests on { $drive } queued in the kernel: they took { $added-percent } % longer than on the drive (limit 200 %; doubtful from 25 %).
    .detail = In a second they were in flight for { $kernel-ms } ms together by the kernel's count, and for { $emulator-ms } ms by the emulator's.
    .next = Use fewer users, or a machine with more idle cores.
finding-drive-errors = The emulated drive { $drive } failed { $errors } { $op } operations although it had power.
    .next = Check the events. A full backing store needs a smaller data set, more memory or backing = "file".
finding-emulation-unreported = The emulator of { $drive } reported nothing for { $missing-s } of { $measured-s } s: not evaluated whether it kept up.
    .next = Do not quote these figures for that drive.
finding-emulation-too-few = { $drive } received { $ops } operations, fewer than { $fewest } of each kind: not evaluated whether its emulator kept up.
finding-committed-lost = { $lost } of { $acknowledged } acknowledged { $txn } are not in the database after the power cut.
    .detail = First: { $first-lost }.
    .next = Check fsync, synchronous_commit and the drive's flush.
finding-not-recovered = The database did not recover after the power cut.
    .next = The events have the reason.
finding-cut-unjudged = No acknowledged transaction could be checked after the power cut.
finding-commits-disagree = The database counted { $database } commits/s and the clients { $clients }: { $percent } % off (limit { $limit-percent } %).
    .detail = The limit is 2 %, and what may be counted at another time: what sessions show a second late (ten seconds where they rest), one commit/s of the server's own, and the commits of session setup.
    .next = Find out whether another client uses the database; otherwise transactions are counted wrongly.
finding-rate-not-reached = The medium, or fio's machine, does not sustain this rate: { $achieved } of { $offered } requests/s completed, { $percent } % fewer (limit 1 %).
    .detail = Allowed besides: the scatter of independent arrivals.
finding-in-flight-off = { $found } requests were in flight on average where the job asks for { $asked } (limit 10 % off).
    .detail = By Little's law, rate × mean latency. Fewer mean that fio or its CPU, not the medium alone, limits these figures; more mean that counts and times are from different windows.
finding-workers-apart = Workers with the same job on { $medium } differ: { $lowest } to { $highest } IOPS.
    .detail = Coefficient of variation { $cv-percent } % (limit 10 %, plus chance). The sum holds; single workers get less than their share.
finding-workers-disagree = { $op }: the workers report { $workers } requests, their seconds { $counted }.
finding-steady-not-reached = No steady state in { $rounds ->
    [1] 1 round
   *[other] { $rounds } rounds
}: the medium was still changing, or scatters too much.
    .detail = Figures are those of the last { $window } rounds at most.
    .next = Run more rounds, or precondition for longer.
finding-never-written = The test space was written { $fill } times from end to end before: drives answer reads of unwritten blocks without access to data.
    .next = Use fill = 1 or more.
finding-backup-failed = { $kind ->
    [backup] Backups
   *[other] Restores
} that failed: { $failed } of { $of }, the first in cycle { $cycle }: { $detail }
finding-restore-differs = Restored data differ from the saved data: { $differs } of { $of }, the first in cycle { $cycle }: { $detail }
finding-backup-cancelled = { $kind ->
    [backup] Backups
   *[other] Restores
} that ended early, by the user or with the concurrent load: { $cancelled } of { $of }. They have no figures.
finding-rate-disagrees = The stated size of { $times } backups and the growth of their files differ by more than 5 %.
    .detail = Worst: cycle { $cycle } of { $system }, { $stated-mb } MB stated, { $observed-mb } MB observed ({ $percent } %).
finding-rate-not-judged = The stated size of { $times } of { $of } backups is not evaluated: the growth of their files is known for less than 90 % of their time.
finding-effect-unpaired = { $left-out } of { $of } repeats are left out: they are invalid, or were not measured both with and without noise on the same systems.
finding-imported = Imported from { $source }, which does not report everything. Not evaluated: { $unknown }.
finding-whole-only = The source reports only the whole { $measured-s } s: there is no interval, and steadiness is not evaluated.
finding-only-reported = There are only figures that { $source } printed: nothing is computed from them.
finding-event = { $event } ({ $times }×, first at { $at-s } s): { $text }
