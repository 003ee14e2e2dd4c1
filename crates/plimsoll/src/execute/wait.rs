//! Work on other threads. The main thread waits for it, shows progress, stores samples and handles Ctrl-C meanwhile.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::{Scope, ScopedJoinHandle};

use plimsoll_load::clock::Clock;
use plimsoll_load::engine::LoadControl;
use plimsoll_plan::units::{Bytes, Nanos};

use super::error::{RunError, StepResult};
use super::inbox::Inbox;
use crate::progress::{Progress, whole_seconds};
use crate::signals::Interrupt;
use plimsoll_record::runfile::{RunFile, RunFileError};

/// How long a wait for a background task lasts before the progress line is refreshed.
pub(super) const REFRESH: Nanos = Nanos::from_millis(200);

/// Where results go: to the run file and to the terminal.
pub(super) struct RunSink<'a> {
    pub file: &'a mut RunFile,
    pub inbox: &'a Inbox,
    pub progress: &'a mut Progress,
}

impl RunSink<'_> {
    /// Stores what has arrived from probes, backups and drives.
    pub fn store(&mut self) -> Result<(), RunFileError> {
        self.inbox.store(self.file, self.progress)?;
        self.file.commit()
    }
}

/// What the tasks under way count as done.
#[derive(Debug, Clone, Copy)]
pub(super) enum ProgressUnit {
    Nothing,
    Rows,
    Bytes,
}

/// The main thread while tasks are under way.
pub(super) struct Waiter<'a, 'd> {
    pub sink: &'a mut RunSink<'d>,
    pub interrupt: &'a Interrupt,
    pub clock: &'a Clock,
    /// Shown meanwhile.
    pub what: &'a str,
    pub counted: ProgressUnit,
}

/// Tasks on threads of their own. The scope joins them; dropped before they have ended, they are canceled.
pub(super) struct Tasks<'scope, T> {
    threads: Vec<ScopedJoinHandle<'scope, ()>>,
    results: Receiver<T>,
    control: LoadControl,
}

impl<'scope, T: Send + 'scope> Tasks<'scope, T> {
    pub fn start<'env, Task>(
        scope: &'scope Scope<'scope, 'env>,
        tasks: impl IntoIterator<Item = Task>,
    ) -> Self
    where
        Task: FnOnce(&LoadControl) -> T + Send + 'scope,
    {
        let control = LoadControl::default();
        let (sender, results) = mpsc::channel();
        let mut threads = Vec::new();
        for task in tasks {
            let sender = sender.clone();
            let control = control.clone();
            // The receiver is dropped early only when nobody waits for results any more.
            threads.push(scope.spawn(move || drop(sender.send(task(&control)))));
        }
        Self {
            threads,
            results,
            control,
        }
    }

    pub fn cancel(&self) {
        self.control.cancel();
    }

    /// All results, in the order in which the tasks end.
    pub fn join(mut self, waiter: &mut Waiter<'_, '_>) -> StepResult<Vec<T>> {
        let began = waiter.clock.now();
        let mut results = Vec::new();
        loop {
            match self.results.recv_timeout(REFRESH.into()) {
                Ok(result) => results.push(result),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {}
            }
            waiter.refresh(began, &self.control)?;
        }
        // Joined here, a panic does not become this thread's; it has printed its message.
        let ended: Vec<_> = self.threads.drain(..).map(ScopedJoinHandle::join).collect();
        if ended.iter().any(Result::is_err) {
            return Err(waiter.fault());
        }
        Ok(results)
    }
}

impl<T> Drop for Tasks<'_, T> {
    fn drop(&mut self) {
        self.control.cancel();
    }
}

impl Waiter<'_, '_> {
    /// The result of one task on a thread of its own.
    pub fn run<T: Send>(&mut self, task: impl FnOnce(&LoadControl) -> T + Send) -> StepResult<T> {
        self.run_all([task])?.pop().ok_or_else(|| self.fault())
    }

    /// The results of tasks that run at the same time.
    pub fn run_all<T, Task>(&mut self, tasks: impl IntoIterator<Item = Task>) -> StepResult<Vec<T>>
    where
        T: Send,
        Task: FnOnce(&LoadControl) -> T + Send,
    {
        self.sink.progress.begin(self.clock.now(), self.what);
        std::thread::scope(|scope| Tasks::start(scope, tasks).join(self))
    }

    fn refresh(&mut self, began: Nanos, control: &LoadControl) -> StepResult<()> {
        if self.interrupt.is_wanted() && !control.is_cancelled() {
            control.cancel();
            let text = format!("{}: stopping (Ctrl-C)", self.what);
            self.sink.progress.print(&text);
        }
        self.sink.store()?;
        let now = self.clock.now();
        let line = progress_line(self.what, self.counted, control, now - began);
        self.sink.progress.now(now, &line);
        Ok(())
    }

    fn fault(&self) -> RunError {
        RunError::failed(format!("{}: ended by a fault of plimsoll", self.what))
    }
}

/// `oltp: loading · 1200000 of about 2000000 rows · 60 % · 7s left`, `corners · writing 4.0 GiB on here · 1.2 GiB · 30 %
/// · 12s left`.
fn progress_line(
    what: &str,
    counted: ProgressUnit,
    control: &LoadControl,
    lasted: Nanos,
) -> String {
    let done = control.done();
    let total = control.total();
    if done == 0 || total == 0 {
        return what.to_owned();
    }
    let done_so_far = match counted {
        ProgressUnit::Nothing => return what.to_owned(),
        ProgressUnit::Rows => format!("{done} of about {total} rows"),
        ProgressUnit::Bytes => Bytes(done).to_string(),
    };
    let share = (done as f64 / total as f64).min(1.0);
    let left = Nanos((lasted.0 as f64 * (1.0 / share - 1.0)) as u64);
    format!(
        "{what} · {done_so_far} · {:.0} % · {} left",
        share * 100.0,
        whole_seconds(left)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_progress_line_has_amount_percent_and_time_left() {
        let control = LoadControl::default();
        control.start(4 << 30);
        let shown = |more, counted| {
            control.add(more);
            progress_line("corners", counted, &control, Nanos::from_secs(10))
        };
        assert_eq!(shown(0, ProgressUnit::Bytes), "corners");
        assert_eq!(
            shown(1 << 30, ProgressUnit::Bytes),
            "corners · 1.0 GiB · 25 % · 30s left"
        );
        assert_eq!(
            shown(0, ProgressUnit::Rows),
            "corners · 1073741824 of about 4294967296 rows · 25 % · 30s left"
        );
        assert_eq!(shown(0, ProgressUnit::Nothing), "corners");
        assert_eq!(
            shown(4 << 30, ProgressUnit::Bytes),
            "corners · 5.0 GiB · 100 % · 0s left"
        );
    }
}
