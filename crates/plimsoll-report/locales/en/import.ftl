# What imported outputs lack, what cannot be evaluated without it, and how figures were found.

import-environment-unknown = Hosts, kernels and drives are unknown: SAMEBOX, NOISE, CLIENT and ONEFACTOR cannot be evaluated.
import-durability-unknown = fsync, commit settings and write caches are unknown: DURABLE and LIES cannot be evaluated.
import-data-size-unknown = The sizes of data set and memory are unknown: CACHED and SIZE cannot be evaluated.
import-in-flight-unknown = Transactions in flight at the end of each second are unknown: CONSERVE cannot be evaluated.
import-start-time-unknown = The output does not contain its start time; give it with --started.
import-no-distribution = The output has means and percentiles, but no distribution: they are kept as reported and never merged.
import-no-intervals = The output has no intervals, only totals: STEADY, SHORT and MAINT cannot be evaluated.
import-workload-unknown = The output does not contain the name of the test; give it with --step.
import-users-unknown = The output does not contain the number of users: LITTLE cannot be evaluated; give it with --users.
import-version-unknown = The output does not contain the version of the tool.
import-lag-or-retries = The log does not show whether its seventh field is a schedule lag (--rate) or retries (--max-tries): OMISSION and LITTLE cannot be evaluated without pgbench's own output.
import-sysbench-file-totals-missing = sysbench 1.1 prints neither the time nor the number of requests of its test of files.
import-queue-uncounted = Events still queued at the end are not counted: latencies of an overload are too low.
import-unstarted-uncounted = pgbench does not count transactions that were due and had not started at the end: in an overload the offered rate was higher.
import-rolled-back-uncounted = go-tpc counts New-Orders that are rolled back as the specification wants among the committed ones: their share is unknown.
import-ramp-up-included = Response times are those of the whole time that virtual users ran, ramp-up included; those of all virtual users are listed under the procedure's name, those of one with its number.
import-failures-uncounted = The output has no failed and rolled back transactions: CONSERVE and RATIO cannot be evaluated.
import-consistency-unverified = HammerDB verifies no consistency condition.
import-duration-unknown = The output does not contain the length of the measurement: transactions cannot be counted.
import-job-unknown = Logs do not contain the options of the job: depth, rate and cache. OMISSION and LITTLE cannot be evaluated without fio's JSON.
import-profile-missing = The output has no <Profile>: the requested load is unknown.
import-targets-differ = { $targets } targets were given; sizes and the mix are those of the first.
import-compressibility-unknown = The output does not contain the compressibility of the written data: ENTROPY is not evaluated.
import-zone-ignored = Times are in the zone { $zone }, and are taken as UTC.
import-end-missing = The output ends before vdbench's last line (`Vdbench execution completed`): further runs may be missing.
import-interval-unknown = Rows have no time of day, or there is only one: the length of an interval is unknown.
import-average-differs = vdbench's average rate is { $printed-per-second }, and that of the intervals which it names is { $counted-per-second }: its average is over others (5.04.05 counts the first ones).
import-page-cache-unknown = The output does not show whether the page cache was bypassed (openflags) or data is compressible: CACHED and ENTROPY are not evaluated.
import-jobs-merged = fio reports jobs of several names as one (group_reporting), with the first name and the options of the last: the options of each job are unknown. Mix and sizes are as measured.
import-directions-merged = fio reports all directions together (unified_rw_reporting): reads and writes cannot be distinguished.
import-fill-unknown = Whether the test space was written before is unknown: THIN cannot be evaluated.
import-offered-unknown = { $reason ->
    [some_directions] A rate limits some directions and others not: OMISSION cannot be evaluated.
    [several_sizes] A rate limits requests of several sizes (bssplit, or bsrange with rate_process=poisson): fio computes when they are due from the smallest size. How many were offered is unknown: OMISSION cannot be evaluated.
   *[jobs_merged] fio reports jobs of several names as one (group_reporting) with the options of the last: whether every job has a rate, and which, is unknown. OMISSION cannot be evaluated.
 }
import-starts-computed = fio before 3.42 does not report when its jobs began. As a whole it ran as long as its groups one after the other: starts are computed from the end, and are up to { $late-seconds } s late.
import-concurrency-unknown = fio's output does not report whether its jobs ran one after the other or at the same time: each stands for itself.
import-single-latencies = A log of single latencies (no log_avg_msec) does not show which of them belong to one moment; use write_hist_log or json+.
import-logs-without-time = The logs have no line after 0 ms: counts by second are unknown.
import-requests-unlogged = { $files } hold { $logged } of { $requests } requests: logs of some jobs are missing, or these belong to another run. The rest is in the last second.
import-logs-incomplete = Transactions are missing in the logs: the distributions leave out { $lost } or more{ $absent ->
    [none] {""}
   *[other] ; none of clients { $absent }{ $further ->
        [none] {""}
       *[other] {" "}and { $further } more
     }
 }{ $threads ->
    [none] {""}
   *[other] ; each of { $threads } threads wrote a log, { $files } given
 }.
import-first-report-left-out = The output does not show whether its first report is an average since the machine was started or one interval (option -y): it is left out.
import-report-times-unknown = The output has no times (option -t) that rise: reports are taken as one second apart.
import-units-unknown = The units of memory and blocks (-S) are not in vmstat's output: they are left out.
import-start-assumed = { $file } or the run has no start time: both are assumed to have started together.

import-counts-from = { $source ->
    [report_intervals] From the --report-interval lines: rate × interval, rounded; the last one has the rest of the total
    [progress] From the lines of -P: rate × interval, rounded; the last one has the rest of the total
    [diskspd_buckets] From the buckets of -D; the last one has the rest of the total
    [vdbench_rows] From the rows of intervals: rate × interval, rounded
    [vdbench_average] None: the average over the run × its length
    [fio_reports] Differences between fio's reports (--status-interval)
    [histogram_log] From the histogram log; the last one has the time after its end
    [request_log] From the log of single requests, counted by second; the last one has the rest of the total
    [iops_log] From the log of IOPS: value × interval, rounded; the last one has the rest of the total
    [transaction_log] From the log of single transactions, by the time that each ended
   *[totals_by_log] The output's totals, over time as the logged transactions are
 }
import-offered-derived = Derived: processed, failed and skipped transactions over the time
import-offered-at-least = At least: transactions that were due and had not begun at the end are not counted
import-logs-complete = { $transactions ->
    [1] The only transaction
   *[other] All { $transactions } transactions
}
import-logs-sampled = { $lines } of { $transactions } transactions ({ $percent } %), drawn at random (--sampling-rate): counts are the output's, distributions the sample's
import-logs-partial = { $lines } of { $transactions } transactions ({ $percent } %), and --sampling-rate does not explain the rest
import-procedure-errors-counted = Lines of a Procedure Error in the measured time; New-Orders are counted as failed
import-nopm-counted = New-Orders are the reported NOPM × the minutes of the test
