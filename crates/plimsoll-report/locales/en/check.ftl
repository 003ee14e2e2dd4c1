# What a consistency condition requires, by its clause, and what was found.

condition-3-3-2-1 = W_YTD = Σ D_YTD
condition-3-3-2-2 = D_NEXT_O_ID − 1 = max(O_ID) = max(NO_O_ID)
condition-3-3-2-3 = max(NO_O_ID) − min(NO_O_ID) + 1 = rows of NEW-ORDER
condition-3-3-2-4 = Σ O_OL_CNT = rows of ORDER-LINE
condition-3-3-2-5 = O_CARRIER_ID is null exactly when NEW-ORDER has the order
condition-3-3-2-6 = O_OL_CNT = rows of ORDER-LINE
condition-3-3-2-7 = OL_DELIVERY_D is null exactly when O_CARRIER_ID is
condition-3-3-2-8 = W_YTD = Σ H_AMOUNT
condition-3-3-2-9 = D_YTD = Σ H_AMOUNT
condition-3-3-2-10 = C_BALANCE = Σ delivered OL_AMOUNT − Σ H_AMOUNT
condition-3-3-2-11 = rows of ORDER − rows of NEW-ORDER = 2100 + Σ C_DELIVERY_CNT
condition-3-3-2-12 = C_BALANCE + C_YTD_PAYMENT = Σ delivered OL_AMOUNT
condition-rows = { $bound ->
    [at_least] at least
    [at_most] at most
   *[exactly] exactly
} { $loaded } rows in each table
condition-ids = { $bound ->
    [at_most] no id is outside of 1 to { $loaded }
   *[other] ids 1 to { $loaded } are all there
}
condition-values = c and pad have their full length

check-holds = { $condition } holds
check-fails = { $condition } fails for { $key }: { $left } ≠ { $right } ({ $violations } of { $rows } rows of { $table })
check-table-empty = { $condition } cannot be evaluated: { $table } is empty
check-rows-missing = { $condition } cannot be evaluated: { $tables } (for { $warehouses } warehouses)
check-tables-hold = { $condition }
check-table-differs = { $condition }: { $table } has { $rows } rows, { $in-range } of them with loaded ids (sum { $sum }), { $whole } with full texts
check-results-incomplete = results are incomplete: { $error }
check-average-missing = { $name } ended early: it has no row avg_FIRST-LAST; figures are those of the { $intervals } intervals that are there
check-requests-failed = { $failed } of { $offered } requests failed{ $errno ->
    [none] { "" }
   *[other] { $is-verify ->
        [true] ; blocks did not hold what was written (error { $errno })
       *[other] ; fio ended with error { $errno } (errno)
    }
}
check-users-failed = { $users ->
    [1] 1 virtual user
   *[other] { $users } virtual users
} ended with an error (FINISHED FAILED)

check-table-rows = { $table } has { $rows } rows, not { $bound ->
    [at_least] at least{ " " }
   *[other] { "" }
}{ $expected }
