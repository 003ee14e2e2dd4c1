# What was compared after a reset or a restore, why a backup failed, and what a power cut took.

reset-check-as-at-first = what transactions left is as at first ({ $bytes } bytes then); { $conditions ->
    [none] conditions were not verified
   *[other] { $conditions } conditions hold
}

backup-detail-verified = { $conditions } conditions hold, { $rows } rows in { $tables } tables as they were
backup-detail-condition-fails = condition { $clause } does not hold: { $check }
backup-detail-table-differs = table { $table } { $rows ->
    [none] is not there
   *[other] has { $rows } rows
} in the system and { $restored ->
    [none] is not there
   *[other] has { $restored } rows
} in what was restored
backup-detail-not-verified = ended before it was verified
backup-detail-failed = { $error }

lost-of-district = { $lost } of { $acknowledged } of warehouse { $warehouse }, district { $district }{ $before-load ->
    [none] { "" }
   *[other] , and { $before-load } from before the load
}
