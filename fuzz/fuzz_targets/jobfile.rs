//! Any text as a job file of fio's: what is allowed names nothing outside of its directory but what is listed.

#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_block::jobfile::JobFile;
use plimsoll_block::jobfile::oracle::first_escape;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let Ok(job) = JobFile::read(text) else {
        return;
    };
    let given = job.text();
    assert_eq!(first_escape(&given, job.outside()), None, "{given}");
    let again = JobFile::read(&given).expect("what fio gets is allowed");
    assert_eq!(again.text(), given);
});
