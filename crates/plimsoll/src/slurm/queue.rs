//! What squeue prints.

use std::fmt;

/// Job, index, state, why it waits, nodes (squeue(1)).
pub const FORMAT: &str = "%F|%K|%T|%r|%N";

/// A task of a job array, which runs the cell of its index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlurmTask {
    pub job: String,
    pub cell: usize,
    pub state: TaskState,
    /// Where it runs or ran; may be empty.
    pub node: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskState {
    Queued {
        reason: String,
    },
    Running,
    /// With Slurm's word for how: `COMPLETED`, `NODE_FAIL`, `TIMEOUT`.
    Ended(String),
}

impl SlurmTask {
    pub fn is_over(&self) -> bool {
        matches!(self.state, TaskState::Ended(_))
    }

    pub fn is_queued(&self) -> bool {
        matches!(self.state, TaskState::Queued { .. })
    }
}

impl fmt::Display for SlurmTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.state {
            TaskState::Queued { reason } => write!(f, "queued ({reason})"),
            TaskState::Running => write!(f, "running on {}", self.node),
            TaskState::Ended(how) if self.node.is_empty() => f.write_str(how),
            TaskState::Ended(how) => write!(f, "{how} on {}", self.node),
        }
    }
}

/// Tasks with an index: those of an array that was canceled while they waited have none.
pub fn parse_tasks(printed: &str) -> Vec<SlurmTask> {
    printed.lines().filter_map(parse_task).collect()
}

fn parse_task(line: &str) -> Option<SlurmTask> {
    let fields: Vec<&str> = line.trim().split('|').collect();
    let [job, cell, state, reason, node] = fields.as_slice() else {
        return None;
    };
    Some(SlurmTask {
        job: (*job).to_owned(),
        cell: cell.parse().ok()?,
        state: parse_state(state, reason),
        node: (*node).to_owned(),
    })
}

/// The states of squeue(1). A state that is unknown here goes on, because waiting loses nothing.
fn parse_state(state: &str, reason: &str) -> TaskState {
    match state {
        "PENDING" | "REQUEUED" | "REQUEUE_FED" | "REQUEUE_HOLD" | "SPECIAL_EXIT" => {
            TaskState::Queued {
                reason: reason.to_owned(),
            }
        }
        "BOOT_FAIL" | "CANCELLED" | "COMPLETED" | "DEADLINE" | "FAILED" | "NODE_FAIL"
        | "OUT_OF_MEMORY" | "PREEMPTED" | "REVOKED" | "TIMEOUT" => {
            TaskState::Ended(state.to_owned())
        }
        _ => TaskState::Running,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines that squeue 22.05 printed of several arrays at several times.
    #[test]
    fn states_are_read_and_tasks_without_an_index_left_out() {
        let tasks = parse_tasks(include_str!("recorded/squeue.txt"));
        let texts: Vec<String> = tasks
            .iter()
            .map(|task| format!("{}_{} {task}", task.job, task.cell))
            .collect();
        insta::assert_snapshot!(texts.join("\n"), @r"
        18_4 COMPLETED on n1
        18_1 COMPLETED on n2
        18_9 queued (Resources)
        18_7 running on n1
        18_8 running on n3
        18_5 queued (BeginTime)
        30_5 NODE_FAIL on n2
        1_3 running on n3
        ");
        let over = tasks.iter().filter(|task| task.is_over()).count();
        assert_eq!(over, 3);
        assert_eq!(parse_tasks("slurm_load_jobs error: something\n\n"), []);
    }
}
