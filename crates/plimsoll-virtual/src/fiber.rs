//! Programs as coroutines: what runs in a fiber may stop deep inside of a C library, until what it waits for has happened.
//!
//! A fiber is never unwound through C. One that is dropped while it waits is run to its end: nothing takes time any more, and
//! [`is_ending`] shows this to code that would otherwise wait for another program.

use std::cell::{Cell, RefCell};
use std::ptr::NonNull;
use std::rc::Rc;
use std::sync::Arc;

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use plimsoll_plan::units::Nanos;

use crate::costs::CpuUse;
use crate::machine::{VirtualMachine, Wait};

/// SQLite needs some 10 KiB, formatting of an error in a debug build some 100.
const STACK: usize = 512 << 10;

/// Why a coroutine has stopped.
enum Stop {
    Wait(Wait),
    /// It wants its next job.
    Idle,
}

/// What code inside of a fiber finds of it.
struct FiberContext {
    yielder: NonNull<Yielder<(), Stop>>,
    machine: Arc<VirtualMachine>,
    /// CPU time that was used and is to be waited for.
    owed: Cell<Nanos>,
    is_ending: Cell<bool>,
}

thread_local! {
    /// Of the fiber that runs on this thread.
    static CURRENT: RefCell<Option<Rc<FiberContext>>> = const { RefCell::new(None) };
}

fn current() -> Option<Rc<FiberContext>> {
    CURRENT.with_borrow(Clone::clone)
}

/// Whether the caller runs in a fiber.
pub fn is_inside() -> bool {
    CURRENT.with_borrow(Option::is_some)
}

/// Whether the fiber that the caller runs in is run to its end: waits return at once, and nobody will wake it.
pub fn is_ending() -> bool {
    CURRENT.with_borrow(|current| current.as_ref().is_some_and(|own| own.is_ending.get()))
}

/// The time in the fiber's machine; `None` outside of fibers.
pub fn now() -> Option<Nanos> {
    current().map(|own| own.machine.clock().now())
}

/// CPU time was used. It passes before the fiber's next wait, or with [`settle`].
pub fn charge(what: CpuUse, count: f64) {
    if let Some(own) = current() {
        own.owed
            .set(own.owed.get() + own.machine.charge(what, count));
    }
}

/// Lets the CPU time pass that was charged: what follows is seen by others only then.
pub fn settle() {
    if let Some(own) = current() {
        own.settle();
    }
}

/// Waits, after the CPU time that was charged. Outside of a fiber everything has happened already.
pub fn wait(wait: Wait) {
    if let Some(own) = current() {
        own.settle();
        own.stop(Stop::Wait(wait));
    }
}

impl FiberContext {
    fn settle(&self) {
        let owed = self.owed.take();
        if owed > Nanos::ZERO {
            self.stop(Stop::Wait(Wait::Cpu(owed)));
        }
    }

    fn stop(&self, stop: Stop) {
        if self.is_ending.get() && matches!(stop, Stop::Wait(_)) {
            return;
        }
        // SAFETY: the yielder lives on the fiber's stack from its first job to its end, and only code that runs on this very
        // stack finds the context: `Fiber::resume` makes it current, and takes it away when the stack is left.
        unsafe { self.yielder.as_ref() }.suspend(stop);
    }
}

/// Makes the context current again that was so before.
struct RestoredContext(Option<Rc<FiberContext>>);

impl Drop for RestoredContext {
    fn drop(&mut self) {
        CURRENT.set(self.0.take());
    }
}

/// A program that takes jobs, one after the other.
pub struct Fiber<J, R> {
    coroutine: Coroutine<(), Stop, (), DefaultStack>,
    context: Rc<RefCell<Option<Rc<FiberContext>>>>,
    slots: Rc<JobSlots<J, R>>,
    machine: Arc<VirtualMachine>,
    /// It is in the middle of a job.
    is_busy: bool,
}

struct JobSlots<J, R> {
    job: Cell<Option<J>>,
    result: Cell<Option<R>>,
}

impl<J: 'static, R: 'static> Fiber<J, R> {
    /// `program` runs each job to its result, on a stack of its own.
    pub fn new(
        machine: Arc<VirtualMachine>,
        mut program: impl FnMut(J) -> R + 'static,
    ) -> std::io::Result<Self> {
        let slots = Rc::new(JobSlots {
            job: Cell::new(None),
            result: Cell::new(None),
        });
        let context = Rc::new(RefCell::new(None));
        let (own_slots, own_context, own_machine) =
            (slots.clone(), context.clone(), machine.clone());
        let body = move |yielder: &Yielder<(), Stop>, ()| {
            let own = Rc::new(FiberContext {
                yielder: NonNull::from(yielder),
                machine: own_machine,
                owed: Cell::new(Nanos::ZERO),
                is_ending: Cell::new(false),
            });
            own_context.replace(Some(own.clone()));
            CURRENT.with_borrow_mut(|current| *current = Some(own.clone()));
            while let Some(job) = own_slots.job.take() {
                let result = program(job);
                own.settle();
                own_slots.result.set(Some(result));
                own.stop(Stop::Idle);
            }
        };
        Ok(Self {
            coroutine: Coroutine::with_stack(DefaultStack::new(STACK)?, body),
            context,
            slots,
            machine,
            is_busy: false,
        })
    }

    /// Runs a job, and waits for whatever it waits for.
    pub async fn run(&mut self, job: J) -> R {
        self.end_job();
        self.slots.job.set(Some(job));
        self.is_busy = true;
        loop {
            match self.resume() {
                Some(Stop::Wait(wait)) => self.machine.meet(wait).await,
                Some(Stop::Idle) | None => {
                    self.is_busy = false;
                    let result = self.slots.result.take();
                    return result.expect("a job that has ended has a result");
                }
            }
        }
    }
}

impl<J, R> Fiber<J, R> {
    /// Until its next stop; `None` when it has ended.
    fn resume(&mut self) -> Option<Stop> {
        if self.coroutine.done() {
            return None;
        }
        // Dropped as well where the program panics: what runs on this thread next is in no fiber.
        let _before = RestoredContext(CURRENT.replace(self.context.borrow().clone()));
        match self.coroutine.resume(()) {
            CoroutineResult::Yield(stop) => Some(stop),
            CoroutineResult::Return(()) => None,
        }
    }

    /// Runs a job that was given up to its end, without any time.
    fn end_job(&mut self) {
        if !std::mem::take(&mut self.is_busy) {
            return;
        }
        let context = self.context.borrow().clone();
        let set_ending = |is_ending| {
            if let Some(own) = &context {
                own.is_ending.set(is_ending);
            }
        };
        set_ending(true);
        while let Some(Stop::Wait(_)) = self.resume() {}
        set_ending(false);
        self.slots.result.take();
    }
}

impl<J, R> Drop for Fiber<J, R> {
    fn drop(&mut self) {
        self.end_job();
        // Without a job its program returns, and what it owns is dropped on its own stack.
        if let Some(own) = self.context.borrow().as_ref() {
            own.is_ending.set(true);
        }
        while self.coroutine.started() && self.resume().is_some() {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calendar::VirtualClock;
    use crate::costs::CpuCosts;

    fn machine() -> Arc<VirtualMachine> {
        VirtualMachine::new(VirtualClock::default(), 1, CpuCosts::REFERENCE)
    }

    #[test]
    fn time_passes_inside_of_a_fiber_only() {
        let machine = machine();
        let mut fiber = Fiber::new(machine.clone(), |until| {
            wait(Wait::Until(until));
            charge(CpuUse::Sync, 1.0);
            now()
        })
        .unwrap();
        let run = fiber.run(Nanos(1_000));
        assert_eq!(machine.clock().block_on(run).unwrap(), Some(Nanos(1_000)));
        assert_eq!(
            machine.clock().now(),
            Nanos(1_000) + CpuCosts::REFERENCE.of(CpuUse::Sync, 1.0),
            "a job ends with its CPU time"
        );
        wait(Wait::Until(Nanos(9_000)));
        assert_eq!((now(), is_inside()), (None, false));
    }

    #[test]
    fn a_fiber_that_is_dropped_runs_to_its_end() {
        let machine = machine();
        let ended = Rc::new(Cell::new(false));
        let own_ended = ended.clone();
        let mut fiber = Fiber::new(machine.clone(), move |()| {
            wait(Wait::Woken(Arc::default()));
            own_ended.set(is_ending());
        })
        .unwrap();
        let given_up = async {
            tokio::select! {
                biased;
                () = fiber.run(()) => panic!("nobody wakes it"),
                () = machine.clock().sleep_until(Nanos(5)) => {}
            }
        };
        machine.clock().block_on(given_up).unwrap();
        assert!(!ended.get());
        drop(fiber);
        assert!(ended.get() && !is_inside());
        assert_eq!(machine.clock().now(), Nanos(5));
    }

    #[test]
    fn after_a_panic_its_thread_is_in_no_fiber() {
        let machine = machine();
        let mut fiber: Fiber<(), ()> = Fiber::new(machine.clone(), |()| panic!("a fault")).unwrap();
        let run = std::panic::AssertUnwindSafe(|| machine.clock().block_on(fiber.run(())));
        assert!(std::panic::catch_unwind(run).is_err());
        assert!(!is_inside());
        wait(Wait::Until(Nanos(7)));
    }
}
