//! Block steps: fio on the medium itself.

use plimsoll_model::plan::resolved::BlockStep;

use super::{Course, Execution, unresolved};

impl Execution<'_> {
    pub(super) fn block_step(&mut self, step: &BlockStep, _media: &[&str]) -> Course<()> {
        let _block = self.plan.block(&step.workload).ok_or_else(|| unresolved("workload", &step.workload))?;
        todo!("block steps")
    }
}
