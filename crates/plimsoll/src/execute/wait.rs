//! Work on other threads. The main thread waits for it, shows progress, stores samples and handles Ctrl-C meanwhile.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::{Scope, ScopedJoinHandle};

use plimsoll_load::engine::LoadControl;
use plimsoll_plan::units::{Bytes, Nanos};

use super::error::{RunError, StepResult};
use super::log::RunLog;
use crate::progress::whole_seconds;
use crate::signals::Interrupt;

/// How long a wait for a background task lasts before the progress line is refreshed.
pub(super) const REFRESH: Nanos = Nanos::from_millis(200);

/// Unit that tasks under way count in.
#[derive(Debug, Clone, Copy)]
pub(super) enum ProgressUnit {
    Nothing,
    Rows,
    Bytes,
}

/// The main thread while tasks are under way.
pub(super) struct Waiter<'a> {
    pub log: &'a RunLog,
    pub interrupt: &'a Interrupt,
    /// Shown meanwhile.
    pub text: &'a str,
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
    pub fn join(mut self, waiter: &Waiter<'_>) -> StepResult<Vec<T>> {
        let began = waiter.log.now();
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

impl Waiter<'_> {
    /// The result of one task on a thread of its own.
    pub fn run<T: Send>(&self, task: impl FnOnce(&LoadControl) -> T + Send) -> StepResult<T> {
        self.run_all([task])?.pop().ok_or_else(|| self.fault())
    }

    /// The results of tasks that run at the same time.
    pub fn run_all<T, Task>(&self, tasks: impl IntoIterator<Item = Task>) -> StepResult<Vec<T>>
    where
        T: Send,
        Task: FnOnce(&LoadControl) -> T + Send,
    {
        self.log.progress().begin(self.log.now(), self.text);
        std::thread::scope(|scope| Tasks::start(scope, tasks).join(self))
    }

    fn refresh(&self, began: Nanos, control: &LoadControl) -> StepResult<()> {
        let progress = self.log.progress();
        if self.interrupt.is_wanted() && !control.is_cancelled() {
            control.cancel();
            progress.print(&format!("{}: stopping (Ctrl-C)", self.text));
        }
        self.log.store()?;
        let now = self.log.now();
        let line = progress_line(self.text, self.counted, control, now - began);
        progress.now(now, &line);
        Ok(())
    }

    fn fault(&self) -> RunError {
        RunError::failed(format!("{}: ended by a fault of plimsoll", self.text))
    }
}

/// `oltp: loading · 1200000 of about 2000000 rows · 60 % · 7s left`, `corners · writing 4.0 GiB on here · 1.2 GiB · 30 %
/// · 12s left`.
fn progress_line(
    text: &str,
    counted: ProgressUnit,
    control: &LoadControl,
    lasted: Nanos,
) -> String {
    let done = control.done();
    let total = control.total();
    if done == 0 || total == 0 {
        return text.to_owned();
    }
    let done_so_far = match counted {
        ProgressUnit::Nothing => return text.to_owned(),
        ProgressUnit::Rows => format!("{done} of about {total} rows"),
        ProgressUnit::Bytes => Bytes(done).to_string(),
    };
    let share = (done as f64 / total as f64).min(1.0);
    let left = Nanos((lasted.0 as f64 * (1.0 / share - 1.0)) as u64);
    format!(
        "{text} · {done_so_far} · {:.0} % · {} left",
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
