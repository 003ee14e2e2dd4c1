//! Options at the end of a name: `:chunk=64KiB:failed=2`.

/// The value, unless it is the usual one.
pub fn changed<T: PartialEq>(value: T, usual: T) -> Option<T> {
    (value != usual).then_some(value)
}

/// Those that have a value.
pub fn options<const N: usize>(options: [(&str, Option<String>); N]) -> String {
    options
        .into_iter()
        .filter_map(|(key, value)| Some(format!(":{key}={}", value?)))
        .collect()
}
