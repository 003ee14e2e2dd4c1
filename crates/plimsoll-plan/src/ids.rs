//! What the parts of a resolved plan refer to each other by: their places in it. Names are looked up once, when the plan
//! is resolved or read from a run file.

use serde::{Deserialize, Serialize};

macro_rules! ids {
    ($($name:ident: $of:literal,)*) => {
        $(
            #[doc = concat!("Index of a ", $of, " in its plan.")]
            #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
            #[serde(transparent)]
            pub struct $name(u32);

            impl $name {
                pub(crate) fn new(index: usize) -> Self {
                    Self(index as u32)
                }

                pub fn index(self) -> usize {
                    self.0 as usize
                }
            }
        )*
    };
}

ids! {
    HostId: "host",
    MediumId: "medium",
    SystemId: "system",
    WorkloadId: "workload that users run",
    BlockId: "block workload",
    BackupId: "backup workload",
    StepId: "step",
}
